import { describe, test } from "vitest";
import { everyLanguage, lookAround } from "../support/browser/look";
import { startSite } from "../support/browser/site";
import { visitClosedRegistration, visitErrors, visitThrottledLogin } from "../support/browser/visits";

const site = startSite({ SUPPORT_EMAIL: "help@example.com", ACCESS_TOKENS: "on" });
const closedSite = startSite({ REGISTRATION: "closed" });

describe.each(everyLanguage)("in the language %s", (language) => {
  test.each([
    ["every page of an error", site, visitErrors],
    ["a login after too many", site, visitThrottledLogin],
    ["every page of a closed registration", closedSite, visitClosedRegistration],
  ] as const)("%s has no problem of translation or layout", { timeout: 300_000 }, (_what, at, visit) =>
    lookAround(at, language, visit),
  );
});
