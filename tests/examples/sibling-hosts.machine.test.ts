import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { createAccount, logIn } from "../support/browser/registration";
import { arrive } from "../support/browser/site";
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
test("a private page of a sibling host leads through the login host back to itself, and a logout ends it", async () => {
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
