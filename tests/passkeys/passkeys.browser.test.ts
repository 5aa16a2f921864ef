import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, test } from "vitest";
import { texts } from "#server/languages/texts";
import { addAuthenticator, addPasskey, type VirtualAuthenticator } from "../support/browser/authenticator";
import { look } from "../support/browser/look";
import { logIn, logOut, newAddress, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";
import { pageTexts } from "../support/browser/visits";
import { until } from "../support/until";

const site = startSite();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

const signInButton = (page: Page) => page.getByRole("button", { name: /^Sign in with a passkey(?: Last used)?$/ });

async function signIn(page: Page, authenticator: VirtualAuthenticator): Promise<void> {
  await authenticator.setPresent(true);
  await signInButton(page).click();
}

/** A page of a browser that suggests no passkeys in fields: a user who is there would be signed in at once. */
async function visitWithoutSuggestions(options?: BrowserContextOptions): Promise<Page> {
  const page = await site.visit(options);
  await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  return page;
}

/** A new account with a passkey, in a browser of its own that is signed in to it. */
async function withPasskey(visit = () => visitWithoutSuggestions()) {
  const page = await visit();
  const authenticator = await addAuthenticator(page);
  await register(site, page, newAddress());
  await addPasskey(page, authenticator);
  return { page, authenticator };
}

test("a passkey has the browser's name unless one is typed", async () => {
  const page = await visitWithoutSuggestions();
  const authenticator = await addAuthenticator(page);
  await register(site, page, newAddress());
  const name = page.locator("form", { has: button(page, "Create the passkey") }).getByLabel("Name");
  expect(await name.inputValue()).toBe("Chrome on Linux");
  await name.fill("My laptop");
  await addPasskey(page, authenticator);
  await page.getByText("My laptop", { exact: true }).waitFor();
});

test("the opened “Add” has no second button of that name", async () => {
  const page = await visitWithoutSuggestions();
  await register(site, page, newAddress());
  await page.locator("details[open] summary", { hasText: "Add" }).waitFor();
  expect(await page.getByText("Add", { exact: true }).count()).toBe(1);
});

test("a passkey signs in by the button without an address", { tags: "6.3.3" }, async () => {
  const { page, authenticator } = await withPasskey();
  await logOut(page);
  await signIn(page, authenticator);
  await arrive(page, "Your account");
  await page.getByText("Last used").waitFor();
});

test("the library is loaded at the click on the button", async () => {
  const { page, authenticator } = await withPasskey();
  await logOut(page);
  const scripts: string[] = [];
  page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
  const library = () => scripts.filter((path) => /passkey\.client/.test(path));
  await page.reload({ waitUntil: "networkidle" });
  expect(library()).toEqual([]);
  await signIn(page, authenticator);
  await arrive(page, "Your account");
  expect(library()).toHaveLength(1);
});

const removal = (page: Page, label = "Remove") =>
  page
    .locator("details", { has: page.locator("input[name=passkey]") })
    .locator("summary")
    .getByText(label, { exact: true });

test("a removed passkey is removed from the browser too", async () => {
  const { page, authenticator } = await withPasskey();
  await removal(page).click();
  await page.getByText(/^Every other session ends, and “.+” does not sign you in any more\.$/).waitFor();
  await button(page, "Remove the passkey").click();
  await page.getByText(/^The passkey “.+” was removed, and every other session was ended\.$/).waitFor();
  expect(await removal(page).count()).toBe(0);
  await until(async () => (await authenticator.credentials()).length === 0, "the browser has removed it, too");
});

test("the email field suggests the passkey", async () => {
  const { page, authenticator } = await withPasskey(site.visit);
  await logOut(page);
  expect(await page.getByLabel("Email").getAttribute("autocomplete")).toBe("username webauthn");
  await authenticator.setPresent(true);
  await page.reload();
  await arrive(page, "Your account");
});

test("the email field suggests the passkey again after a refusal", async () => {
  const { page, authenticator } = await withPasskey(site.visit);
  const suggested = page.waitForResponse("**/auth/passkey");
  await logOut(page);
  await suggested;
  await page.route("**/auth/passkey", async (route) => {
    await authenticator.setPresent(true);
    await route.continue();
  });
  await logIn(page, newAddress(), "not the right one");
  await arrive(page, "Your account");
});

test("the field suggests the passkey again to who closes the browser's dialog", async () => {
  const { page, authenticator } = await withPasskey(site.visit);
  await authenticator.setVerified(false);
  const suggested = page.waitForResponse("**/auth/passkey");
  await logOut(page);
  await suggested;
  let requests = 0;
  await page.route("**/auth/passkey", async (route) => {
    await authenticator.setVerified(++requests > 1);
    await route.continue();
  });
  await signIn(page, authenticator);
  await arrive(page, "Your account");
  expect(requests).toBe(2);
});

test("an authenticator that has one already adds none", async () => {
  const { page, authenticator } = await withPasskey();
  await page.locator("summary", { hasText: "Add" }).click();
  await authenticator.setPresent(true);
  await button(page, "Create the passkey").click();
  await page.getByText("Nothing was changed. If this device has a passkey").waitFor();
  expect(await authenticator.credentials()).toHaveLength(1);
});

test("a sign-in after a refusal ends at return_to", async () => {
  const { page, authenticator } = await withPasskey();
  await logOut(page);
  await page.goto("/login?return_to=/healthz");
  await page.route("**/auth/passkey", (route) => route.abort());
  await signInButton(page).click();
  await page.getByText("Signing in with the passkey did not work.").waitFor();
  await page.unrouteAll();
  await signIn(page, authenticator);
  await page.waitForURL(`${site.url()}/healthz`);
  expect(site.takeProblems().map((problem) => problem.replace(/ \(.*\)$/, ""))).toContain(
    "console: Failed to load resource: net::ERR_FAILED",
  );
});

/**
 * Chromium's virtual authenticator announces conditional creation and never answers it: it has no password manager. So the
 * call is seen, and goes on to the authenticator without its `mediation`.
 */
async function visitWithUpgrades(answer = "create(request)") {
  const page = await visitWithoutSuggestions();
  const calls: unknown[] = [];
  await page.exposeFunction("noteCall", (call: unknown) => calls.push(call));
  await page.addInitScript(`
    const create = navigator.credentials.create.bind(navigator.credentials);
    navigator.credentials.create = ({ mediation, ...request }) => {
      noteCall([mediation, request.publicKey.authenticatorSelection.userVerification]);
      return ${answer};
    };`);
  const authenticator = await addAuthenticator(page);
  await authenticator.setPresent(true);
  return { page, calls, authenticator };
}

test("after a login with a password the browser creates a passkey without a click", async () => {
  const email = newAddress();
  await register(site, await site.visit(), email);
  const { page, calls, authenticator } = await visitWithUpgrades();
  await page.goto("/login");
  await logIn(page, email);
  await removal(page).waitFor();
  expect(calls).toEqual([["conditional", "preferred"]]);
  expect(await site.mail(email, "A passkey was added")).toContain("passkey");
  expect(await button(page, "Create the passkey").isVisible()).toBe(false);
  await page.reload();
  await removal(page).waitFor();
  await logOut(page);
  await signIn(page, authenticator);
  await arrive(page, "Your account");
  expect(calls).toHaveLength(1);
});

test("a new account is told so once, and still while the browser creates a passkey", async () => {
  const { page } = await visitWithUpgrades();
  await register(site, page, newAddress());
  await removal(page).waitFor();
  const told = page.getByText("Your account was created.");
  expect(await told.count()).toBe(1);
  await page.reload();
  await arrive(page, "Your account");
  expect(await told.count()).toBe(0);
});

test("where the browser declines to create one the page still has the button", async () => {
  const email = newAddress();
  await register(site, await site.visit(), email);
  const { page, calls, authenticator } = await visitWithUpgrades(
    "Promise.reject(new DOMException('', 'NotAllowedError'))",
  );
  await page.goto("/login");
  await logIn(page, email);
  await until(async () => calls.length === 1, "the browser is asked");
  await button(page, "Create the passkey").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(await authenticator.credentials()).toEqual([]);
});

test("a creation that the browser leaves open gives way to the suggestion of the login page", async () => {
  const { authenticator } = await withPasskey(site.visit);
  expect(await authenticator.credentials()).toHaveLength(1);
  const other = await site.visit();
  await addAuthenticator(other);
  const asked = other.waitForResponse("**/auth/passkey");
  await register(site, other, newAddress());
  expect((await asked).request().postData()).toBe("purpose=upgrade");
  const suggested = other.waitForResponse("**/auth/passkey");
  await logOut(other);
  expect((await suggested).request().postData()).toBe("purpose=sign-in");
});

test("the pages with a passkey are right on a phone in English as in Arabic", { timeout: 300_000 }, async () => {
  const { page, authenticator } = await withPasskey(() =>
    visitWithoutSuggestions({ ...surveyed, viewport: { width: 375, height: 740 } }),
  );
  await survey(page, "account-passkey");
  await page.locator("summary", { hasText: "Add" }).click();
  await survey(page, "account-add-passkey");
  await logOut(page);
  await survey(page, "login-passkey");

  const t = pageTexts("ar");
  await button(page, "العربية").click();
  await arrive(page, t("common.logIn"));
  const problems = await look(page, "ar", "login-passkey");
  await authenticator.setPresent(true);
  await button(page, t("passkeys.signIn")).click();
  await arrive(page, t("common.accountTitle"));
  await removal(page, t("account.remove")).click();
  await button(page, t("passkeys.remove")).click();
  await removal(page, t("account.remove")).waitFor({ state: "detached" });
  await page.locator("summary", { hasText: t("passkeys.add") }).click();
  await button(page, t("passkeys.create")).click();
  await page.getByText(texts.ar.answers.account.passkeyAdded).waitFor();
  problems.push(...(await look(page, "ar", "account-passkey")));
  expect(problems).toEqual([]);
});

test.each([
  ["without JavaScript", false],
  ["where the browser has no passkeys", true],
])("%s nothing of passkeys is shown", async (_where, javaScriptEnabled) => {
  const email = newAddress();
  await register(site, await site.visit(), email);
  const page = await site.visit({ javaScriptEnabled });
  if (javaScriptEnabled) await page.addInitScript("delete window.PublicKeyCredential");
  const shown = page.getByText(/passkey/i).filter({ visible: true });
  const scripts: string[] = [];
  page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto("/login", { waitUntil: "networkidle" });
  expect(await shown.count()).toBe(0);
  await logIn(page, email);
  await arrive(page, "Your account");
  expect(await shown.count()).toBe(0);
  expect(scripts.filter((path) => /passkey/.test(path))).toEqual([]);
});
