import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { newAddress, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";
import { cutTexts, overflow, violations, wcag } from "../support/browser/survey";

const site = startSite({ ACCESS_TOKENS: "on" });

const shown = (page: Page) => page.getByText(/latchkey_[\w-]{43}/);

async function openPage(options = {}): Promise<Page> {
  const page = await site.visit(options);
  await register(site, page, newAddress());
  await page.getByRole("link", { name: "Tokens for programs" }).click();
  await arrive(page, "Tokens for programs");
  return page;
}

async function make(page: Page, name = "Calendar on the phone"): Promise<void> {
  await page.getByLabel("Which program is it for?").fill(name);
  await page.getByLabel("Ends after").selectOption("30 days");
  await page.getByRole("button", { name: "Make a token" }).click();
  await shown(page).waitFor();
}

describe.each([
  ["with scripts", {}],
  ["without scripts", { javaScriptEnabled: false }],
])("%s", (_, options) => {
  test("a token is shown once: a reload of its page shows none, and makes none", async () => {
    const page = await openPage(options);
    await make(page);
    await page.reload();
    await arrive(page, "Tokens for programs");
    expect(await shown(page).count()).toBe(0);
    expect(await page.getByText("Calendar on the phone").count()).toBe(1);
  });

  test("what is wrong is said at its field, and what was typed stays", async () => {
    const page = await openPage(options);
    await page.getByLabel("Which program is it for?").fill("   ");
    await page.getByLabel("Ends after").selectOption("7 days");
    await page.getByRole("button", { name: "Make a token" }).click();
    await page.getByText("Enter a name of 1 to 64 characters, on one line.").waitFor();
    expect(await page.getByLabel("Ends after").inputValue()).toBe("7");
  });

  test("a token is removed", async () => {
    const page = await openPage(options);
    await make(page);
    await page.getByRole("group", { name: "Calendar on the phone" }).getByRole("button", { name: "Remove" }).click();
    await page.getByText("The token was removed.").waitFor();
    await page.getByText("Calendar on the phone").waitFor({ state: "detached" });
  });
});

test("a button copies the token", async () => {
  const page = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
  await make(page);
  const token = (await shown(page).textContent()) ?? "";
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
});

test("a name is shown as it was typed", async () => {
  const page = await openPage();
  await make(page, "ebay");
  const row = page.locator("li > p", { hasText: "ebay" });
  expect(await row.evaluate((line) => getComputedStyle(line, "::first-letter").textTransform)).toBe("none");
});

test("going back to the page shows no token", async () => {
  const page = await openPage();
  await make(page);
  await page.getByRole("link", { name: "Your account" }).click();
  await arrive(page, "Your account");
  await page.goBack();
  await arrive(page, "Tokens for programs");
  expect(await shown(page).count()).toBe(0);
});

test.each([320, 375, 768, 1280])("the page fits %i px", async (width) => {
  const page = await openPage({ viewport: { width, height: 800 } });
  await make(page);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await cutTexts(page)).toEqual([]);
  expect(await violations(page, [...wcag, "best-practice"])).toEqual([]);
});
