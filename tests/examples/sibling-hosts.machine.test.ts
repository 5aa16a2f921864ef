import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { createAccount, logIn } from "../support/browser/registration";
import { arrive, signInAtProvider } from "../support/browser/site";
import { consent } from "../support/consent";
import { type Example, onSiblingHosts, startExample } from "./example";

let browser: Browser;
let example: Example;

beforeAll(async () => {
  browser = await startBrowser({ hosts: { "*.example.org": "127.0.0.1" } });
  example = await startExample(await onSiblingHosts());
});

afterAll(async () => {
  await browser.close();
  await example.stop();
});

// Without JavaScript: proxies.machine.test.ts.
test("a private page of a sibling host leads through the login host back to itself until a logout", async () => {
  const application = example.url.replace("login.", "app.");
  const asked = `${application}/notes?page=2&tag=a%26b`;
  const email = "ada@example.com";
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const isAtLogin = async () => {
    await arrive(page, "Log in");
    expect(page.url()).toBe(`${example.url}/login?${new URLSearchParams({ return_to: asked })}`);
  };
  const isBack = async () => {
    await arrive(page, `Notes of ${email}`);
    expect(page.url()).toBe(asked);
  };

  await page.goto(asked);
  await isAtLogin();
  await page.getByRole("link", { name: "Create one" }).click();
  await createAccount(example, page, email);
  await isBack();
  const cookies = await context.cookies();
  expect(cookies.filter(({ domain }) => domain.startsWith("."))).toMatchObject([
    { name: "__Secure-session", domain: ".example.org", secure: true, httpOnly: true },
  ]);
  const ofHost = { domain: new URL(example.url).hostname, path: "/", secure: true, httpOnly: true, sameSite: "Lax" };
  expect(cookies.find(({ name }) => name === "__Host-device")).toMatchObject(ofHost);

  await page.goto(`${example.url}/dashboard`);
  await page.getByRole("button", { name: "Log out" }).click();
  await arrive(page, "Log in");
  await page.goto(asked);
  await isAtLogin();
  await logIn(page, email);
  await isBack();
});

// The cookies are planted by the browser's own rules: a sibling host sets them for the whole domain.
describe("a sibling host in the hands of an attacker", () => {
  const signIn = { name: "Sign in with single sign-on" };
  let context: BrowserContext;

  beforeEach(async () => {
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(15_000);
    await context.route("https://evil.example.org:*/**", (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>evil</title>" }),
    );
  });

  afterEach(() => context.close());

  const evil = () => example.url.replace("login.", "evil.");

  async function leave(page: Page, target: string): Promise<void> {
    await page.goto(`${example.url}/login?${new URLSearchParams({ return_to: target })}`);
    await page.getByRole("link", signIn).click();
    await page.getByPlaceholder("Enter any login").waitFor();
  }

  async function signInAs(page: Page, email: string, target = "/dashboard"): Promise<void> {
    await leave(page, target);
    await signInAtProvider(page, email);
    await page.waitForURL(`${example.url}${target}`);
    await arrive(page, "Your account");
  }

  /** The attacker's own response of the provider, not yet used, and the cookies of his browser. */
  async function preparedAttack() {
    const own = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await own.newPage();
    const started = page.waitForRequest((request) => request.url().includes("redirect_uri="));
    await leave(page, "/dashboard");
    const url = example.url + (await consent((await started).url(), "eve@example.com"));
    const cookies = (await own.cookies(url)).map(({ name, value }) => `${name}=${value}`);
    await own.close();
    return { url, cookies };
  }

  /** The provider has the consent. */
  async function signInAgain(page: Page): Promise<void> {
    await page.getByPlaceholder("Enter any login").fill("mary@example.com");
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
  }

  async function plant(page: Page, cookies: string[]): Promise<void> {
    await page.goto(evil());
    await page.evaluate((pairs) => {
      for (const pair of pairs) {
        for (const path of ["/", "/auth/idp", "/auth/idp/callback"]) {
          // biome-ignore lint/suspicious/noDocumentCookie: what an attacker's page does
          document.cookie = `${pair}; domain=example.org; path=${path}; secure; max-age=30000000`;
        }
      }
    }, cookies);
  }

  const email = (page: Page) => page.getByRole("main").textContent();

  describe("with a signed-in visitor", () => {
    let page: Page;
    let attack: Awaited<ReturnType<typeof preparedAttack>>;

    beforeEach(async () => {
      page = await context.newPage();
      await signInAs(page, "mary@example.com");
      attack = await preparedAttack();
      await plant(page, attack.cookies);
    });

    test("sets no cookie of the login host", async () => {
      expect(await page.evaluate(() => document.cookie)).not.toContain("__Host-");
    });

    test("changes no session by an unseen request", async () => {
      await page.evaluate(async (url) => {
        for (const target of [url, url.replace("callback?", "callback.data?")])
          await fetch(target, { credentials: "include", mode: "no-cors" }).catch(() => {}); // it is sent, not readable
      }, attack.url);
      await page.goto(`${example.url}/dashboard`);
      expect(await email(page)).toContain("mary@example.com");
    });

    test("changes no session by a navigation", async () => {
      await page.goto(attack.url);
      await arrive(page, "Your account");
      expect(await email(page)).toContain("mary@example.com");
    });
  });

  test("signs no guest in as himself", async () => {
    const page = await context.newPage();
    const attack = await preparedAttack();
    await plant(page, attack.cookies);
    await page.goto(attack.url);
    await arrive(page, "Log in");
    expect(page.url()).toBe(`${example.url}/login?notice=idp_failed`);
  });

  test("keeps nobody from signing in with five tabs", async () => {
    const planter = await context.newPage();
    const names = ["oauth_state", "oauth_connect", "oauth_verifier", "oauth"];
    await plant(
      planter,
      names.map((name) => `${name}=${"e".repeat(64)}`),
    );
    const tabs: Page[] = [];
    for (let tab = 0; tab < 5; tab++) {
      const page = await context.newPage();
      tabs.push(page);
      await leave(page, `/dashboard?tab=${tab}`);
    }
    for (const tab of [2, 4, 0, 3, 1]) {
      const page = tabs[tab]!;
      if (tab === 2) await signInAtProvider(page, "mary@example.com");
      else await signInAgain(page);
      await page.waitForURL(`${example.url}/dashboard?tab=${tab}`);
      await arrive(page, "Your account");
      expect(await page.getByRole("alert").count()).toBe(0);
    }
  });
});
