import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { texts } from "#server/languages/texts";
import { arrive, startSite } from "../support/browser/site";

const site = startSite();

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
