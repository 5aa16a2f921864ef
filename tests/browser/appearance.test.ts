import { expect, test } from "vitest";
import { navigate, postFromAnotherSite, refused } from "./refused";
import { choosePassword, password, register } from "./registration";
import { arrive, linkIn, signInAtProvider, startSite } from "./site";
import { overflow, photograph, survey, surveyed } from "./survey";

const site = startSite();
const siteWithoutProvider = startSite({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });

const visit = (at = site) => at.visit(surveyed);

test("the login page", async () => {
  const page = await visit();
  await page.goto("/login", { waitUntil: "networkidle" });
  await survey(page, "login");
});

test("the login page has the same layout without JavaScript", async () => {
  const shapes = [];
  for (const javaScriptEnabled of [true, false]) {
    const page = await site.visit({ ...surveyed, javaScriptEnabled });
    await page.goto("/login", { waitUntil: "networkidle" });
    if (!javaScriptEnabled) await photograph(page, "login-without-javascript");
    const boxes = page.locator("main :is(h1, input, [type=submit], a)");
    shapes.push(await boxes.evaluateAll((all) => all.map((box) => box.getBoundingClientRect().top)));
  }
  expect(shapes[1]).toEqual(shapes[0]);
});

test("the login page without external sign-in", async () => {
  const page = await visit(siteWithoutProvider);
  await page.goto("/login", { waitUntil: "networkidle" });
  expect(await page.getByRole("link", { name: /^Continue with/ }).count()).toBe(0);
  await survey(page, "login-without-provider");
});

test.each(["password_reset", "email_changed", "idp_failed"])("the login page with the notice %s", async (notice) => {
  const page = await visit();
  await page.goto(`/login?notice=${notice}`, { waitUntil: "networkidle" });
  await survey(page, `login-${notice}`);
});

test("the login page after wrong credentials, and after too many", async () => {
  const page = await visit();
  await page.goto("/login", { waitUntil: "networkidle" });
  await page.getByLabel("Email").fill("somebody.with.a.rather.long.name@a-company-of-some-length.example.com");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  const submit = page.getByRole("button", { name: "Log in" });
  await submit.click();
  await page.getByText("Email or password is incorrect.").waitFor();
  await survey(page, "login-refused");
  const email = await page.getByLabel("Email").inputValue();
  for (let attempt = 0; attempt < 10; attempt++) {
    await page.request.post("/login", { headers: { Origin: site.url() }, form: { email, password: "wrong" } });
  }
  await submit.click();
  await page.getByText("Too many attempts.").waitFor();
  await page.locator("[role=alert]:focus").waitFor();
  await survey(page, "login-throttled");
});

test("the login page with a shown password and Caps Lock, also in forced colours", async () => {
  const page = await visit();
  await page.goto("/login", { waitUntil: "networkidle" });
  const field = page.getByLabel("Password", { exact: true });
  await field.fill("QUIET LAMPS");
  await page.getByRole("button", { name: "Show password" }).click();
  await field.evaluate((input) => {
    input.focus();
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "A", bubbles: true, modifierCapsLock: true }));
  });
  await page.getByText("Caps Lock is on.").waitFor();
  await survey(page, "login-caps-lock");
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await photograph(page, "login-forced-colors");
});

test.each([
  ["/forgot-password", "forgot"],
  ["/register", "register"],
])("%s, and its page after the request", async (path, name) => {
  const page = await visit();
  await page.goto(path, { waitUntil: "networkidle" });
  await survey(page, name);
  await page.getByLabel("Email").fill("ada@example.com");
  await page.locator("main button[type=submit]").click();
  await arrive(page, "Check your mail");
  await survey(page, `${name}-sent`);
  await page.getByRole("button", { name: "Send it again" }).click();
  await page.getByText("Asked again.").waitFor();
  await survey(page, `${name}-sent-again`);
});

test("the reset page: empty, filled in, refused, and with an invalid link", async () => {
  const page = await visit();
  const email = "grace@example.com";
  await register(site, page, email);
  await page.getByText("Change the password", { exact: true }).click();
  await page.getByRole("button", { name: "Change the password by mail" }).click();
  await page.goto(linkIn(await site.mail(email, "Reset your password")), { waitUntil: "networkidle" });
  await survey(page, "reset");
  await choosePassword(page, "lampshade7");
  await page.getByText("Could be stronger: add a word.").waitFor();
  await survey(page, "reset-could-be-stronger");
  await choosePassword(page, password, "something else");
  await page.getByText("Very strong.").waitFor();
  await survey(page, "reset-very-strong");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The two passwords are not the same.").waitFor();
  await survey(page, "reset-unconfirmed");
  await choosePassword(page, "password");
  await page.getByText("Very easy to guess").waitFor();
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("This password is among the most common ones.").waitFor();
  await survey(page, "reset-common");
  await page.goto(`/reset-password?${new URLSearchParams({ email, token: "0".repeat(64) })}`);
  await choosePassword(page, password);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("This reset link is invalid or has expired.").waitFor();
  await survey(page, "reset-dead");
});

test("the page that completes a registration, and that of an invalid link", async () => {
  const page = await visit();
  await page.goto(`/register/complete?${new URLSearchParams({ email: "ada@example.com", token: "0".repeat(64) })}`);
  await page.waitForLoadState("networkidle");
  await survey(page, "complete");
  await choosePassword(page, password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText("This link is invalid or has expired.").waitFor();
  await survey(page, "complete-dead");
});

test("the page that confirms an address, and that of an invalid link", async () => {
  const page = await visit();
  await page.goto(`/account/email?${new URLSearchParams({ email: "ada@example.com", token: "0".repeat(64) })}`);
  await page.waitForLoadState("networkidle");
  await survey(page, "confirm-email");
  await page.getByRole("button", { name: "Confirm the address" }).click();
  await page.getByText("This link is invalid or has expired.").waitFor();
  await survey(page, "confirm-email-dead");
});

test("the account page with both sign-in methods, its confirmations and its results", async () => {
  const email = "ada@example.com";
  const page = await visit();
  await register(site, page, email);
  const phone = await visit();
  await phone.goto("/login");
  await phone.getByLabel("Email").fill(email);
  await phone.getByLabel("Password", { exact: true }).fill(password);
  await phone.getByRole("button", { name: "Log in" }).click();
  await arrive(phone, "Your account");
  await page.getByRole("button", { name: "Log out" }).click();
  await arrive(page, "Log in");
  await page.getByRole("link", { name: "Continue with single sign-on" }).click();
  await signInAtProvider(page, email);
  await arrive(page, "Your account");
  await page.waitForLoadState("networkidle");
  await survey(page, "dashboard");
  await page.getByText("Change the password", { exact: true }).click();
  await page.getByText("Change the email address", { exact: true }).click();
  await page.getByText("Disconnect", { exact: true }).click();
  await page.getByText("Delete my account", { exact: true }).click();
  await survey(page, "dashboard-questions");
  await page.getByLabel("Current password", { exact: true }).fill("not my password");
  await choosePassword(page, "lampshade7");
  await page.getByRole("button", { name: "Save the new password" }).click();
  await page.getByText("This is not your current password.").waitFor();
  await survey(page, "dashboard-wrong-password");
  await page.getByText("Delete my account", { exact: true }).click();
  await page.getByLabel("Type your email address to confirm").fill("somebody@example.com");
  await page.getByRole("button", { name: "Delete my account for good" }).click();
  await page.getByText("Type the email address of this account.").waitFor();
  await survey(page, "dashboard-refused");
  await page.getByRole("button", { name: "End this session" }).click();
  await page.getByText("The session was ended.").waitFor();
  await survey(page, "dashboard-done");
  await page.getByText("Delete my account", { exact: true }).click();
  await page.getByLabel("Type your email address to confirm").fill(email);
  await page.getByRole("button", { name: "Delete my account for good" }).click();
  await arrive(page, "Your account was deleted");
  await survey(page, "account-deleted");
});

test("the account page of a user who has no password", async () => {
  const page = await visit();
  await page.goto("/login");
  await page.getByRole("link", { name: "Continue with single sign-on" }).click();
  await signInAtProvider(page, "linus");
  await arrive(page, "Your account");
  await page.waitForLoadState("networkidle");
  await survey(page, "dashboard-only-provider");
});

test.each(["/login", "/register", "/reset-password", "/nowhere"])(
  "%s at 200 % zoom and with text twice as large does not overflow",
  async (path) => {
    const page = await visit();
    await page.setViewportSize({ width: 640, height: 400 });
    await page.goto(path, { waitUntil: "networkidle" });
    await page.addStyleTag({ content: ":root { font-size: 200% !important }" });
    expect(await overflow(page)).toBe(0);
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll("h1, label, button, a, p")]
        .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
        .map((element) => element.textContent),
    );
    expect(cut).toEqual([]);
  },
);

test.each([
  [400, "This address cannot be read"],
  [404, "Page not found"],
  [405, "This does not work here"],
  [413, "Too much text"],
  [415, "Form not understood"],
] as const)("the error page of status %i has a link or a button", async (status, heading) => {
  const page = await visit();
  const answer = await navigate(page, refused[status]);
  expect(answer?.status()).toBe(status);
  await arrive(page, heading);
  await page.waitForLoadState("networkidle");
  expect(await page.title()).toBe(`${heading} · Latchkey`);
  await survey(page, `error-${status}`);
  await page.locator("main a").click();
  await page.waitForLoadState();
  expect(await page.locator("main a, main button").count()).toBeGreaterThan(0);
});

test("a form from another site is answered with the 403 page", async () => {
  const page = await visit();
  await postFromAnotherSite(page, site.url());
  await arrive(page, "Sent from another site");
  await page.waitForLoadState("networkidle");
  await survey(page, "error-403");
  await page.getByRole("link", { name: "Open the form again" }).click();
  await arrive(page, "Log in");
});
