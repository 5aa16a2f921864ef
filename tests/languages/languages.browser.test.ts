import { describe, expect, test } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { texts } from "#server/languages/texts";
import { look } from "../support/browser/look";
import { arrive, type Site, startSite } from "../support/browser/site";
import { surveyed } from "../support/browser/survey";
import {
  type Visit,
  visitClosedRegistration,
  visitErrors,
  visitEveryPage,
  visitThrottledLogin,
} from "../support/browser/visits";

const site = startSite({ SUPPORT_EMAIL: "help@example.com" });
const closedSite = startSite({ REGISTRATION: "closed" });

const everyLanguage = Object.keys(languages) as Language[];

async function lookAround(site: Site, language: Language, visit: Visit): Promise<void> {
  const page = await site.visit({ ...surveyed, locale: language });
  const problems: string[] = [];
  const see = async (state: string) => {
    problems.push(...(await look(page, language, state)));
  };
  await visit({ site, page, language, see });
  expect(problems).toEqual([]);
}

describe.each(everyLanguage)("in the language %s", (language) => {
  test.each([
    ["every page", site, visitEveryPage],
    ["every page of an error", site, visitErrors],
    ["a login after too many", site, visitThrottledLogin],
    ["every page of a closed registration", closedSite, visitClosedRegistration],
  ] as const)("%s is accessible, fits, and says nothing in English", { timeout: 300_000 }, (_what, at, visit) =>
    lookAround(at, language, visit),
  );
});

test("in Arabic, every flow works without JavaScript", { timeout: 120_000 }, async () => {
  const page = await site.visit({ javaScriptEnabled: false, locale: "ar" });
  const visited = { site, page, language: "ar", see: async () => {} } as const;
  await visitEveryPage(visited);
  await visitErrors(visited);
});

test.each([true, false])("the switch keeps the page and its query, with JavaScript: %s", async (javaScriptEnabled) => {
  const page = await site.visit({ javaScriptEnabled, locale: "fr" });
  await page.goto("/forgot-password?email=ada%40example.com");
  await arrive(page, texts.fr.pages.common.forgotPassword);
  const own = ["English", "Deutsch", "Français", "Español", "日本語", "العربية"];
  expect(await page.locator("footer button").allTextContents()).toEqual(own);
  const choose = (name: string) => page.getByRole("button", { name, exact: true }).press("Enter");
  await choose("العربية");
  await arrive(page, texts.ar.pages.common.forgotPassword);
  expect(page.url()).toBe(`${site.url()}/forgot-password?email=ada%40example.com`);
  expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
  expect(await page.getByRole("button", { name: "العربية" }).getAttribute("aria-current")).toBe("true");
  await page.goto("/login");
  await arrive(page, texts.ar.pages.common.logIn);
  await choose("English");
  await arrive(page, "Log in");
  expect(await page.locator("html").getAttribute("dir")).toBe("ltr");
});
