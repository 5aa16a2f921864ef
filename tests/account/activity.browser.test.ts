import { expect, test } from "vitest";
import { languages } from "#server/languages/languages";
import { register } from "../support/browser/registration";
import { startSite } from "../support/browser/site";
import { surveyed, violations, wcag } from "../support/browser/survey";

const site = startSite();

test("the history of an account fits in 320 px without scripts in every language", async () => {
  const page = await site.visit({ viewport: { width: 320, height: 700 }, javaScriptEnabled: false });
  await register(site, page, "activity@example.com");
  for (const language of Object.keys(languages)) {
    await page.context().addCookies([{ name: "language", value: language, url: site.url() }]);
    await page.goto("/dashboard");
    await page.locator("a[href='/account/activity']").click();
    expect(await page.locator("main ul.rows > li").count()).toBeGreaterThanOrEqual(2);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  }
});

test("the page says when something happened", async () => {
  const page = await site.visit();
  const before = Date.now();
  await register(site, page, "when@example.com");
  await page.goto("/account/activity");
  const signIn = page.getByRole("listitem").filter({ hasText: "The account was created" });
  const at = await signIn.locator("time").getAttribute("datetime");
  expect(Date.parse(at ?? "")).toBeGreaterThanOrEqual(before);
});

test("the page has no violation of axe", async () => {
  const page = await site.visit(surveyed);
  await register(site, page, "axe@example.com");
  await page.goto("/account/activity", { waitUntil: "networkidle" });
  expect(await violations(page, wcag)).toEqual([]);
});

test("the button downloads a file of the owner's data", async () => {
  const page = await site.visit();
  await register(site, page, "data@example.com");
  await page.goto("/account/activity");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("account.json");
});
