import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { linkIn } from "../support/browser/site";
import { createEmptyDatabase, freePort, type RunningServer, startServer, type TestDatabase } from "../support/server";
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
  await tab.type("New password", password);
  await tab.type("New password, again", password);
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
  async registration() {
    await register();
    await logOut();
    await logIn(newPassword);
    await tab.see("Email or password is incorrect.");
    await tab.type("Password", password);
    await tab.press("Log in");
    await tab.see("Your account");
  },

  async reset() {
    await register();
    await logOut();
    await tab.press("Forgot your password?");
    await tab.see("Forgot your password?");
    await tab.type("Email", email);
    await tab.press("Send the link");
    await tab.see("Check your mail");
    await tab.open(await mailedLink("Reset your password"));
    await tab.type("New password", newPassword);
    await tab.type("New password, again", newPassword);
    await tab.press("Change the password");
    await tab.see("Your password was changed. Log in with the new one.");
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
    await tab.press("Change the password");
    await tab.type("Current password", password);
    await tab.type("New password", newPassword);
    await tab.type("New password, again", newPassword);
    await tab.press("Save the new password");
    await tab.see("Your password was changed, and every other session was ended.");
    await tab.press("Delete my account");
    await tab.type("Type your email address to confirm", email);
    await tab.press("Delete my account for good");
    await tab.see("Your account was deleted");
    await open("/dashboard");
    await tab.see("Log in");
    expect(await tab.url()).toBe(`${server.url}/login`);
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
});
