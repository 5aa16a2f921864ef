import { expect, test } from "vitest";
import { choosePassword, password, register } from "./registration";
import { arrive, signInAtProvider, startSite } from "./site";
import { overflow, photograph, survey, surveyed } from "./survey";

const site = startSite();
const siteWithoutProvider = startSite({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });

const visit = (at = site) => at.visit(surveyed);

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

test("the reset page with each strength of a password", async () => {
  const page = await visit();
  await page.goto(`/reset-password?${new URLSearchParams({ email: "grace@example.com", token: "0".repeat(64) })}`);
  await page.waitForLoadState("networkidle");
  for (const [value, words, state] of [
    ["password", "Very easy to guess", "very-easy"],
    ["lampshade7", "Could be stronger: add a word.", "could-be-stronger"],
    [password, "Very strong.", "very-strong"],
  ] as const) {
    await choosePassword(page, value);
    await page.getByText(words).waitFor();
    await survey(page, `reset-${state}`);
  }
});

test("the account page with both sign-in methods, two sessions and its forms open", async () => {
  const email = "ada@example.com";
  const page = await visit();
  await register(site, page, email);
  const phone = await visit();
  await phone.goto("/login");
  await phone.getByRole("link", { name: "Continue with single sign-on" }).click();
  await signInAtProvider(phone, email);
  await arrive(phone, "Your account");
  await page.reload({ waitUntil: "networkidle" });
  await survey(page, "dashboard");
  for (const label of ["Change the password", "Change the email address", "Disconnect", "Delete my account"]) {
    await page.getByText(label, { exact: true }).click();
  }
  await survey(page, "dashboard-questions");
  await page.getByRole("button", { name: "End this session" }).click();
  await page.getByText("The session was ended.").waitFor();
  await survey(page, "dashboard-done");
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
