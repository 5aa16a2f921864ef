import type { Page } from "playwright-core";
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

const site = startSite({ SUPPORT_EMAIL: "help@example.com", ACCESS_TOKENS: "on" });
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
  ] as const)("%s has no problem of translation or layout", { timeout: 300_000 }, (_what, at, visit) =>
    lookAround(at, language, visit),
  );
});

test("every flow works in Arabic without JavaScript", { timeout: 120_000 }, async () => {
  const page = await site.visit({ javaScriptEnabled: false, locale: "ar" });
  const visited = { site, page, language: "ar", see: async () => {} } as const;
  await visitEveryPage(visited);
  await visitErrors(visited);
});

describe.each([true, false])("the switch of the language (JavaScript: %s)", (javaScriptEnabled) => {
  const choose = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).press("Enter");

  async function chooseArabic(): Promise<Page> {
    const page = await site.visit({ javaScriptEnabled, locale: "fr" });
    await page.goto("/forgot-password?email=ada%40example.com");
    await arrive(page, texts.fr.pages.common.forgotPassword);
    await choose(page, "العربية");
    await arrive(page, texts.ar.pages.common.forgotPassword);
    return page;
  }

  test("names each language in that language", async () => {
    const page = await site.visit({ javaScriptEnabled, locale: "fr" });
    await page.goto("/forgot-password");
    const own = ["English", "Deutsch", "Français", "Español", "日本語", "العربية"];
    expect(await page.locator("footer button").allTextContents()).toEqual(own);
  });

  test("keeps the page with its query", async () => {
    const page = await chooseArabic();
    expect(page.url()).toBe(`${site.url()}/forgot-password?email=ada%40example.com`);
  });

  test("marks the language of the page", async () => {
    const page = await chooseArabic();
    expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
    expect(await page.getByRole("button", { name: "العربية" }).getAttribute("aria-current")).toBe("true");
  });

  test("holds for the next page", async () => {
    const page = await chooseArabic();
    await page.goto("/login");
    await arrive(page, texts.ar.pages.common.logIn);
  });

  test("leads back to English", async () => {
    const page = await chooseArabic();
    await choose(page, "English");
    await arrive(page, "Forgot your password?");
    expect(await page.locator("html").getAttribute("dir")).toBe("ltr");
  });
});
