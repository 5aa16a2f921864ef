import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  askForAccount,
  choosePassword,
  logIn,
  logOut,
  newAddress,
  password,
  register,
} from "../support/browser/registration";
import { arrive, linkIn, startSite } from "../support/browser/site";

const site = startSite();

const another = "another quiet evening";

const phone = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };

async function sendPassword(page: Page, value: string, submit: string): Promise<void> {
  await choosePassword(page, value);
  await page.getByRole("button", { name: submit }).click();
}

/** Marks the document; the result asserts that no reload has replaced it. */
async function watchReloads(page: Page) {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  return async () => expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);
}

test("the way from a registration by a reset to a login needs no reload", async () => {
  const email = newAddress();
  const page = await site.open("/", phone);
  await arrive(page, "Log in");
  const assertNoReload = await watchReloads(page);
  await page.getByRole("link", { name: "Create one" }).click();
  await askForAccount(page, email);
  await assertNoReload();

  await page.goto(linkIn(await site.mail(email, "Finish creating your account")));
  await arrive(page, "Finish creating your account");
  const assertNoReloadEither = await watchReloads(page);
  await sendPassword(page, password, "Create the account");
  await arrive(page, "Your account");
  await logOut(page);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await arrive(page, "Forgot your password?");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await arrive(page, "Check your mail");
  await assertNoReloadEither();

  await page.goto(linkIn(await site.mail(email, "Reset your password")));
  await arrive(page, "Choose a password");
  const assertNoReloadAfterReset = await watchReloads(page);
  await sendPassword(page, another, "Save the password");
  await page.getByText("Your new password is saved. Log in with it.").waitFor();

  const typed = email.toUpperCase();
  await logIn(page, typed);
  expect(await page.getByRole("alert").textContent()).toBe("Email or password is incorrect.");
  expect(await page.getByLabel("Email").inputValue()).toBe(typed);
  const refused = page.locator("input[name=password]:focus");
  await refused.waitFor();
  expect(await refused.inputValue()).toBe(password);
  await refused.fill(another);
  await page.getByRole("button", { name: "Log in" }).click();
  await arrive(page, "Your account");
  await assertNoReloadAfterReset();
});

test("the owner changes the password on the account page", async () => {
  const page = await site.visit(phone);
  await register(site, page, newAddress());
  await page.getByRole("group", { name: "Email and password" }).getByText("Change", { exact: true }).click();
  const current = page.getByLabel("Current password", { exact: true });
  for (const [typed, answer] of [
    ["not my password", "This is not your current password."],
    [password, "Your password was changed, and every other session was ended."],
  ] as const) {
    await current.fill(typed);
    await sendPassword(page, another, "Save the new password");
    await page.getByText(answer).waitFor();
    expect(await current.inputValue()).toBe("");
  }
});

test("the owner ends one other session before all others", async () => {
  const email = newAddress();
  const page = await site.visit(phone);
  await register(site, page, email);
  const others = [];
  for (let count = 0; count < 3; count++) {
    const other = await site.open("/login", phone);
    await logIn(other, email);
    await arrive(other, "Your account");
    others.push(other);
  }
  await page.goto("/dashboard");
  const ends = page.getByRole("button", { name: "End", exact: true });
  await ends.first().click();
  await page.getByText("The session was ended.").waitFor();
  await ends.nth(2).waitFor({ state: "detached" });
  expect(await ends.count()).toBe(2);
  await page.getByRole("button", { name: "End all others" }).click();
  await page.getByText("Every other session was ended.").waitFor();
  await ends.first().waitFor({ state: "detached" });
  for (const other of others) {
    await other.goto("/dashboard");
    await arrive(other, "Log in");
  }
});
