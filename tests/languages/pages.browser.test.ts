import { describe, test } from "vitest";
import { everyLanguage, lookAround } from "../support/browser/look";
import { startSite } from "../support/browser/site";
import { visitErrors, visitEveryPage } from "../support/browser/visits";

const site = startSite({ SUPPORT_EMAIL: "help@example.com", ACCESS_TOKENS: "on" });

describe.each(everyLanguage)("in the language %s", (language) => {
  test("every page has no problem of translation or layout", { timeout: 300_000 }, () =>
    lookAround(site, language, visitEveryPage),
  );
});

test("every flow works in Arabic without JavaScript", { timeout: 120_000 }, async () => {
  const page = await site.visit({ javaScriptEnabled: false, locale: "ar" });
  const visited = { site, page, language: "ar", see: async () => {} } as const;
  await visitEveryPage(visited);
  await visitErrors(visited);
});
