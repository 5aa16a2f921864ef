import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { linkIn } from "../support/browser/site";
import { createEmptyDatabase, freePort, type RunningServer, startServer, type TestDatabase } from "../support/server";
import { until } from "../support/until";
import { chromium } from "./chromium";
import { firefox } from "./firefox";
import type { Engine, Tab } from "./tab";
import { webkit } from "./webkit";

// Each flow from its first to its last page, described once, in three engines, with and without scripts.

let database: TestDatabase;
let provider: IdentityProvider;
let server: RunningServer;

beforeAll(async () => {
  const port = await freePort();
  database = await createEmptyDatabase("embedded");
  provider = await startIdentityProvider(`http://localhost:${port}/auth/idp/callback`);
  server = await startServer({ PORT: String(port), DATABASE_URL: database.url, ...provider.settings });
});

afterAll(async () => {
  await server.stop();
  await provider.stop();
  await database.drop();
});

const password = "quiet lamps over the harbour";
const newPassword = "slow rivers under the bridge";

let tab: Tab;
let email: string;

afterEach(() => tab.close());

const open = (path: string) => tab.open(`${server.url}${path}`);
const mailedLink = async (subject: string) => linkIn((await server.mail(email, subject)).text);

async function register(): Promise<void> {
  await open("/register");
  await tab.see("Create an account");
  await tab.type("Email", email);
  await tab.press("Continue");
  await tab.see("Check your mail");
  await tab.open(await mailedLink("Finish creating your account"));
  await tab.type("Password", password);
  await tab.type("Password, again", password);
  await tab.press("Create the account");
  await tab.see("Your account");
}

async function logOut(): Promise<void> {
  await tab.press("Log out");
  await tab.see("Log in");
}

async function logIn(typed: string): Promise<void> {
  await tab.type("Email", email);
  await tab.type("Password", typed);
  await tab.press("Log in");
}

const flows: Record<string, () => Promise<void>> = {
  async reset() {
    await register();
    await logOut();
    await logIn(newPassword);
    await tab.see("Email or password is incorrect.");
    await tab.press("Forgot your password?");
    await tab.see("Forgot your password?");
    await tab.type("Email", email);
    await tab.press("Send the link");
    await tab.see("Check your mail");
    await tab.open(await mailedLink("Reset your password"));
    await tab.type("Password", newPassword);
    await tab.type("Password, again", newPassword);
    await tab.press("Save the password");
    await tab.see("Your new password is saved. Log in with it.");
    await logIn(newPassword);
    await tab.see("Your account");
  },

  async "external sign-in"() {
    await open("/login");
    await tab.press("Sign in with single sign-on");
    await tab.type("login", email);
    await tab.type("password", "any");
    await tab.press("Sign-in");
    await tab.press("Continue");
    await tab.see("Your account");
    await logOut();
    await tab.press("Sign in with single sign-on");
    await tab.see("Your account");
  },

  async account() {
    await register();
    await tab.press("Change");
    await tab.type("Current password", password);
    await tab.type("New password", newPassword);
    await tab.type("Password, again", newPassword);
    await tab.press("Save the new password");
    await tab.see("Your password was changed, and every other session was ended.");
    await tab.press("Delete");
    await tab.type("Type your email address to confirm", email);
    await tab.press("Delete my account for good");
    await tab.see("Your account was deleted");
    await open("/dashboard");
    await tab.see("Log in");
    expect(await tab.url()).toBe(`${server.url}/login`);
  },
};

/** The name of the element that has the focus; empty for none. */
const focused = "(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()";

/** The names of the elements that Tab must reach, in the order of the page. */
const controls = `[...document.querySelectorAll("a[href], button, input, summary")]
  .filter((control) => control.checkVisibility({ visibilityProperty: true }) && control.type !== "hidden")
  .map((control) => (control.labels?.[0] ?? control).innerText.trim())`;

/** React has the document, and the controls that need scripts are there. */
const hydrated =
  'Object.keys(document).some((key) => key.startsWith("__react")) && document.querySelector(".scripted") === null';

async function openHydrated(url: string): Promise<void> {
  await tab.open(url);
  await until(() => tab.ask<boolean>(hydrated), "the page is hydrated");
}

async function expectEveryControlByTab(url: string): Promise<void> {
  await openHydrated(url);
  const expected = await tab.ask<string[]>(controls);
  expect(expected.length).toBeGreaterThan(3);
  const reached: string[] = [];
  for (const _ of expected) {
    await tab.ask("(window.left = document.activeElement) && null");
    await tab.key("Tab");
    await until(() => tab.ask<boolean>("document.activeElement !== window.left"), "the focus moves");
    reached.push(await tab.ask(focused));
  }
  expect(reached).toEqual(expected);
}

const scripted: Record<string, () => Promise<void>> = {
  async "each file is loaded once"() {
    await openHydrated(`${server.url}/login`);
    const loaded = await tab.ask<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)');
    expect(loaded.filter((file, n) => loaded.indexOf(file) !== n)).toEqual([]);
    expect(loaded.filter((file) => file.includes("/texts-"))).toHaveLength(1);
  },

  async "by keyboard"() {
    await register();
    await expectEveryControlByTab(`${server.url}/dashboard`);
    await logOut();
    for (const path of ["/login", "/register", "/forgot-password"])
      await expectEveryControlByTab(`${server.url}${path}`);
    await tab.type("Email", email);
    await tab.key("Escape");
    await tab.key("Enter");
    await tab.see("Check your mail");
    await expectEveryControlByTab(await mailedLink("Reset your password"));
    await tab.type("Password", newPassword);
    await tab.type("Password, again", newPassword);
    await tab.key("Enter");
    await tab.see("Your new password is saved. Log in with it.");
    await tab.type("Email", email);
    await tab.type("Password", newPassword);
    await tab.key("Enter");
    await tab.see("Your account");
  },
};

const engines: Record<string, Engine> = { Chromium: chromium, Firefox: firefox, WebKit: webkit };

describe.each(Object.keys(engines))("in %s", (engine) => {
  describe.each([true, false])("with scripts: %s,", (scripts) => {
    test.each(Object.keys(flows))("%s", async (flow) => {
      email = `${crypto.randomUUID()}@example.com`;
      tab = await engines[engine]!.start(scripts);
      await flows[flow]!();
    });
  });

  test.each(Object.keys(scripted))("%s", async (name) => {
    email = `${crypto.randomUUID()}@example.com`;
    tab = await engines[engine]!.start(true);
    await scripted[name]!();
  });
});
