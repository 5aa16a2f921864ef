import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  askForAccount,
  choosePassword,
  logIn,
  logOut,
  newAddress,
  password,
  register,
} from "../support/browser/registration";
import { arrive, linkIn, signInAtProvider, startSite } from "../support/browser/site";

const site = startSite();

const phone = { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true };
const smallPhone = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };
const desktop = { viewport: { width: 1280, height: 800 } };

const visitors: { who: string; options: BrowserContextOptions }[] = [
  { who: "on a desktop, light", options: { ...desktop, colorScheme: "light" } },
  { who: "on a phone, dark", options: { ...phone, colorScheme: "dark" } },
  { who: "on a small phone, light, without JavaScript", options: { ...smallPhone, javaScriptEnabled: false } },
  {
    who: "on a desktop, dark, without JavaScript",
    options: { ...desktop, colorScheme: "dark", javaScriptEnabled: false },
  },
];

async function sendPassword(page: Page, value: string, submit: string): Promise<void> {
  await choosePassword(page, value);
  await page.getByRole("button", { name: submit }).click();
}

/** Marks the document; the result asserts that no reload has replaced it. */
async function watchReloads(page: Page, { javaScriptEnabled = true }: BrowserContextOptions) {
  if (!javaScriptEnabled) return async () => {};
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  return async () => expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);
}

describe.each(visitors)("$who", ({ options }) => {
  test("a registration by mailed link creates the account and signs in", async () => {
    const email = newAddress();
    const page = await site.open("/", options);
    await arrive(page, "Log in");
    const assertNoReload = await watchReloads(page, options);
    await page.getByRole("link", { name: "Create one" }).click();
    await askForAccount(page, email);
    expect(await page.getByRole("status").first().textContent()).toContain(email);
    await assertNoReload();

    await page.goto(linkIn(await site.mail(email, "Finish creating your account")));
    await arrive(page, "Finish creating your account");
    const assertNoReloadEither = await watchReloads(page, options);
    expect(await page.getByLabel("Email").inputValue()).toBe(email);
    await sendPassword(page, password, "Create the account");
    await arrive(page, "Your account");
    expect(await page.getByText(email).count()).toBe(3);
    await assertNoReloadEither();
  });

  test("a forgotten password is reset by mailed link, and the new one logs in", async () => {
    const email = newAddress();
    const page = await site.visit(options);
    await register(site, page, email);
    await logOut(page);

    const assertNoReload = await watchReloads(page, options);
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await arrive(page, "Forgot your password?");
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await arrive(page, "Check your mail");
    await assertNoReload();

    await page.goto(linkIn(await site.mail(email, "Reset your password")));
    await arrive(page, "Choose a new password");
    const assertNoReloadEither = await watchReloads(page, options);
    await sendPassword(page, "another quiet evening", "Change the password");
    await arrive(page, "Log in");
    expect(new URL(page.url()).search).toBe("?notice=password_reset");
    expect(await page.getByRole("status").first().textContent()).toBe(
      "Your password was changed. Log in with the new one.",
    );

    const typed = email.toUpperCase();
    await logIn(page, typed);
    expect(await page.getByRole("alert").textContent()).toBe("Email or password is incorrect.");
    expect(await page.getByLabel("Email").inputValue()).toBe(typed);
    const refused = page.locator("input[name=password]:focus");
    await refused.waitFor();
    expect(await refused.inputValue()).toBe(options.javaScriptEnabled === false ? "" : password);
    await page.getByLabel("Password", { exact: true }).fill("another quiet evening");
    await page.getByRole("button", { name: "Log in" }).click();
    await arrive(page, "Your account");
    await assertNoReloadEither();
    await site.mail(email, "Your password was changed");
    await logOut(page);
  });

  test("external sign-in creates a user, and signs the same user in again", async () => {
    const email = newAddress();
    const page = await site.open("/login", options);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await signInAtProvider(page, email);
    await arrive(page, "Your account");
    expect(await page.getByText("Your only way in is single sign-on.").count()).toBe(1);
    expect(await page.getByText("Disconnect single sign-on").count()).toBe(0);
    await logOut(page);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await arrive(page, "Your account");
    expect(await page.getByText(email, { exact: true }).count()).toBe(2);
  });

  test("the password and the address are changed on the account page", async () => {
    const [email, newEmail] = [newAddress(), newAddress()];
    const page = await site.visit(options);
    await register(site, page, email);
    const assertNoReload = await watchReloads(page, options);
    const changePassword = async (current: string) => {
      const form = page.locator("details", { has: page.getByLabel("Current password", { exact: true }) });
      if (!(await form.getAttribute("open").then((open) => open !== null))) {
        await page.getByText("Change the password", { exact: true }).click();
      }
      await page.getByLabel("Current password", { exact: true }).fill(current);
      await sendPassword(page, "another quiet evening", "Save the new password");
    };
    await changePassword("not my password");
    await page.getByText("This is not your current password.").waitFor();
    expect(await page.getByLabel("Current password", { exact: true }).inputValue()).toBe("");
    await page.locator("[aria-invalid=true]:focus").waitFor();
    await changePassword(password);
    await page.getByText("Your password was changed, and every other session was ended.").waitFor();
    await site.mail(email, "Your password was changed");

    const field = page.getByLabel("New email address");
    await page.getByText("Change the email address", { exact: true }).click();
    await field.fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText("This is the address of your account already.").waitFor();
    expect(await field.inputValue()).toBe(email);
    await field.fill(newEmail);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText(`If mail reaches ${newEmail}, a link to confirm the address is on its way.`).waitFor();
    await assertNoReload();
    await site.mail(email, "Your email address is being changed");

    const elsewhere = await site.visit(options);
    const link = linkIn(await site.mail(newEmail, "Confirm your new email address"));
    await elsewhere.goto(link);
    await arrive(elsewhere, "Confirm your new email address");
    expect(await elsewhere.getByLabel("Email").inputValue()).toBe(newEmail);
    await elsewhere.getByRole("button", { name: "Show the account" }).click();
    await elsewhere.getByText(email, { exact: true }).first().waitFor();
    await elsewhere.getByRole("button", { name: "Confirm the address" }).click();
    await arrive(elsewhere, "Log in");
    expect(await elsewhere.getByRole("status").first().textContent()).toBe(
      "Your email address was changed. Log in with the new one.",
    );
    await logIn(elsewhere, newEmail, "another quiet evening");
    await arrive(elsewhere, "Your account");
    expect(await elsewhere.getByText(newEmail, { exact: true }).count()).toBe(3);
    await site.mail(email, "Your email address was changed");
    await site.mail(newEmail, "Your email address was changed");

    await page.goto(link);
    await page.getByRole("button", { name: "Show the account" }).click();
    await page.getByText("This link is invalid or has expired.").waitFor();
  });

  test("one other session is ended, then all others", async () => {
    const email = newAddress();
    const page = await site.visit(options);
    await register(site, page, email);
    const others = [];
    for (let count = 0; count < 3; count++) {
      const other = await site.open("/login", options);
      await logIn(other, email);
      await arrive(other, "Your account");
      others.push(other);
    }
    await page.goto("/dashboard");
    await page.getByRole("button", { name: "End this session" }).first().click();
    await page.getByText("The session was ended.").waitFor();
    const ends = page.getByRole("button", { name: "End this session" });
    await ends.nth(2).waitFor({ state: "detached" });
    expect(await ends.count()).toBe(2);
    await page.getByRole("button", { name: "End every other session" }).click();
    await page.getByText("Every other session was ended.").waitFor();
    await ends.first().waitFor({ state: "detached" });
    for (const other of others) {
      await other.goto("/dashboard");
      await arrive(other, "Log in");
    }
  });
});
