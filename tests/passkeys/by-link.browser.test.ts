import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addAuthenticator } from "../support/browser/authenticator";
import {
  askForAccount,
  askForReset,
  choosePassword,
  logIn,
  newAddress,
  register,
} from "../support/browser/registration";
import { arrive, linkIn, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";

const site = startSite();

const instead = "Use a passkey instead";

/** A page of a browser that suggests no passkeys in fields: a user who is there would be signed in at once. */
async function visit(): Promise<Page> {
  const page = await site.visit(surveyed);
  await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  return page;
}

async function withAccount() {
  const page = await visit();
  const authenticator = await addAuthenticator(page);
  const email = newAddress();
  await register(site, page, email);
  await page.context().clearCookies();
  return { page, authenticator, email };
}

/** An account with a passkey, in a browser that is signed out. */
async function withPasskey() {
  const page = await visit();
  const authenticator = await addAuthenticator(page);
  const email = newAddress();
  await register(site, page, email);
  await authenticator.setPresent(true);
  await page.getByRole("button", { name: "Create the passkey", exact: true }).click();
  await page.getByText("The passkey was added.").waitFor();
  await page.context().clearCookies();
  return { page, authenticator, email };
}

describe("the link of a reset", () => {
  test("makes a passkey with which the same person signs in", async () => {
    const { page, authenticator, email } = await withAccount();
    await page.goto(await askForReset(site, page, email));
    await page.getByRole("button", { name: instead }).waitFor();
    await survey(page, "reset-passkey-instead");
    await authenticator.setPresent(true);
    await page.getByRole("button", { name: instead }).click();
    await page.waitForURL("**/login?notice=passkey_set");
    await page.getByText("A passkey replaced your password").waitFor();
    await survey(page, "login-passkey-set");
    await page.getByRole("button", { name: /^Sign in with a passkey/ }).click();
    await arrive(page, "Your account");
  });

  test("leads to the login where the authenticator has a passkey of the account already", async () => {
    const { page, email } = await withPasskey();
    await page.goto(await askForReset(site, page, email));
    await page.getByRole("button", { name: instead }).click();
    await page.getByText("This device has a passkey for your account already").waitFor();
    await survey(page, "reset-passkey-known");
    await page.getByRole("link", { name: "sign in with it" }).click();
    await arrive(page, "Log in");
  });

  test("says that it was used meanwhile", async () => {
    const { page, authenticator, email } = await withAccount();
    const link = await askForReset(site, page, email);
    const other = await page.context().newPage();
    await Promise.all([page.goto(link), other.goto(link)]);
    await choosePassword(other, "slow rivers under the bridge");
    await other.getByRole("button", { name: "Save the password" }).click();
    await other.waitForURL("**/login?notice=password_reset");
    await authenticator.setPresent(true);
    await page.getByRole("button", { name: instead }).click();
    await page.getByText("If you have just changed your password, the link is used").waitFor();
  });

  test("keeps its form for whoever closes the browser's dialog", async () => {
    const { page, authenticator, email } = await withAccount();
    await page.goto(await askForReset(site, page, email));
    await authenticator.setVerified(false);
    await authenticator.setPresent(true);
    await page.getByRole("button", { name: instead }).click();
    await choosePassword(page, "slow rivers under the bridge");
    await page.getByRole("button", { name: "Save the password" }).click();
    await page.waitForURL("**/login?notice=password_reset");
  });

  test("loads the library at the click", async () => {
    const { page, authenticator, email } = await withAccount();
    const scripts: string[] = [];
    page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
    const library = () => scripts.filter((path) => /passkey\.client/.test(path)).length;
    await page.goto(await askForReset(site, page, email), { waitUntil: "networkidle" });
    expect(library()).toBe(0);
    await authenticator.setPresent(true);
    await page.getByRole("button", { name: instead }).click();
    await page.waitForURL("**/login?notice=passkey_set");
    expect(library()).toBe(1);
  });

  test("has the passkey's way below its form", async () => {
    const { page, email } = await withAccount();
    await page.goto(await askForReset(site, page, email));
    const form = await page.getByRole("button", { name: "Save the password" }).boundingBox();
    const passkey = await page.getByRole("button", { name: instead }).boundingBox();
    expect(passkey!.y).toBeGreaterThan(form!.y + form!.height);
  });

  test("offers no passkey in a browser without passkeys", async () => {
    const { page, email } = await withAccount();
    await page.addInitScript("delete window.PublicKeyCredential");
    await page.goto(await askForReset(site, page, email), { waitUntil: "networkidle" });
    expect(await page.getByText(instead).count()).toBe(1);
    expect(await page.getByText(instead).isVisible()).toBe(false);
  });

  test("offers no passkey without scripts", async () => {
    const { page, email } = await withAccount();
    const link = await askForReset(site, page, email);
    const plain = await site.visit({ javaScriptEnabled: false });
    await plain.goto(link);
    expect(await plain.getByRole("button", { name: instead }).isVisible()).toBe(false);
  });
});

test("the link of a registration signs in to an account with a passkey", async () => {
  const page = await visit();
  const authenticator = await addAuthenticator(page);
  const email = newAddress();
  await page.goto("/register");
  await askForAccount(page, email);
  await page.goto(linkIn(await site.mail(email, "Finish creating your account")));
  await authenticator.setPresent(true);
  await page.getByRole("button", { name: instead }).click();
  await arrive(page, "Your account");
  await page.getByText("Chrome on Linux", { exact: true }).first().waitFor();
});

describe("after a reset", () => {
  async function afterReset() {
    const { page, authenticator, email } = await withPasskey();
    await authenticator.setPresent(false);
    await page.goto(await askForReset(site, page, email));
    await choosePassword(page, "slow rivers under the bridge");
    await page.getByRole("button", { name: "Save the password" }).click();
    await page.waitForURL("**/login?notice=password_reset");
    await logIn(page, email, "slow rivers under the bridge");
    await page.getByRole("heading", { name: "Is this yours?" }).waitFor();
    return page;
  }

  test("the owner keeps the earlier passkey", async () => {
    const page = await afterReset();
    await survey(page, "account-questions");
    await page.getByRole("button", { name: "Keep", exact: true }).click();
    await page.getByText("It stays.").waitFor();
    await page.getByRole("heading", { name: "Is this yours?" }).waitFor({ state: "detached" });
  });

  test("the owner removes the earlier passkey", async () => {
    const page = await afterReset();
    await page.locator("summary").getByText("Remove", { exact: true }).click();
    await page.getByRole("button", { name: "Remove the passkey" }).click();
    await page.getByText(/was removed, and every other session was ended\.$/).waitFor();
    await page.getByRole("heading", { name: "Is this yours?" }).waitFor({ state: "detached" });
  });
});
