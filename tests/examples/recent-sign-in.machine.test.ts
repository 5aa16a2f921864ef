import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { logIn } from "../support/browser/registration";
import { arrive, signInAtProvider } from "../support/browser/site";
import { sendPlainly } from "../support/http";
import { goodPassword } from "../support/passwords";
import { type Example, onOneHost, type ProxyName, register, startExample, withRecentSignIn } from "./example";

const payments = "/payments?id=1&tag=a%26b";
const why = "You logged in more than 10 minutes ago. Log in again to go on.";

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

afterAll(() => browser.close());

describe.each<ProxyName>(["nginx", "caddy"])("pages that need a recent sign-in behind %s", (proxy) => {
  let example: Example;

  beforeAll(async () => {
    const { configuration, settings, ...others } = await onOneHost(proxy);
    const changed = withRecentSignIn(configuration);
    expect(changed).not.toBe(configuration);
    example = await startExample({
      ...others,
      configuration: changed,
      settings: { ...settings, IDP_GROUPS_CLAIM: "groups" },
    });
  });

  afterAll(() => example.stop());

  const age = () => example.execute("update sessions set created_at = created_at - interval '601 seconds'");

  async function open(path: string, javaScriptEnabled = true): Promise<Page> {
    const page = await browser.newPage({ baseURL: example.url, javaScriptEnabled });
    page.setDefaultTimeout(15_000);
    await page.goto(path);
    return page;
  }

  async function expectPayments(page: Page, email: string): Promise<void> {
    await arrive(page, `Notes of ${email}`);
    expect(page.url()).toBe(example.url + payments);
    expect(await page.getByRole("code").textContent()).toBe(payments);
  }

  test("let through after a new sign-in at the provider with the password", async () => {
    const page = await open(payments);
    const signIn = page.getByRole("link", { name: /^Sign in with/ });
    await signIn.click();
    await signInAtProvider(page, "ada");
    await expectPayments(page, "ada@example.com");
    expect(await page.getByRole("definition").allTextContents()).toContain("staff");

    await age();
    await page.goto("/notes");
    await arrive(page, "Notes of ada@example.com");
    await page.goto(payments);
    await page.getByText(why).waitFor();
    await signIn.click();
    await page.getByPlaceholder("Enter any login").fill("ada");
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await expectPayments(page, "ada@example.com");
  });

  test.each([
    ["with JavaScript", true],
    ["without JavaScript", false],
  ])("let through after the password was asked for again: %s", async (_with, javaScript) => {
    const email = javaScript ? "grace@example.com" : "plain@example.com";
    await register(example, email);
    await example.command("user", "groups", email, "--add", "staff");
    const page = await open(payments, javaScript);
    await arrive(page, "Log in");
    await logIn(page, email, goodPassword);
    await expectPayments(page, email);

    await age();
    await page.goto("/notes");
    await arrive(page, `Notes of ${email}`);
    await page.goto(payments);
    await page.getByText(why).waitFor();
    await logIn(page, email, "a wrong password");
    await page.getByText("Email or password is incorrect.").waitFor();
    await logIn(page, email, goodPassword);
    await expectPayments(page, email);
    const sessions = (await page.context().cookies()).filter(({ name }) => name === "session");
    const cookie = `session=${sessions[0]?.value}`;
    const headers = { "Sec-Fetch-Mode": "cors" };
    expect((await sendPlainly(example.url, payments, { cookie, headers })).status).toBe(200);
    await age();
    expect((await sendPlainly(example.url, payments, { cookie, headers })).status).toBe(401);
    expect((await sendPlainly(example.url, "/notes", { cookie, headers })).status).toBe(200);
  });
});
