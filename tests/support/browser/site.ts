import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type IdentityProvider, startIdentityProvider } from "../../../demo/identity-provider";
import { freePort, type RunningServer, startServer, type TestDatabase } from "../server";
import { createDatabase } from "../template-copy";
import { startBrowser } from "./chromium";

type Settings = Record<string, string>;

/**
 * The production build with a real identity provider, and a browser. A test fails on a console error on a page of the
 * site, a CSP violation or a request to a third party.
 */
export function startSite(settings: Settings | ((provider: IdentityProvider) => Settings) = {}, failures = /503/) {
  // Chrome logs every answer of status 4xx and 5xx as an error.
  const refusal = new RegExp(`^Failed to load resource: .* with a status of (?:4\\d\\d|${failures.source}) `);
  let browser: Browser;
  let database: TestDatabase;
  let provider: IdentityProvider;
  let server: RunningServer;
  const problems: string[] = [];
  let applications: string[] = [];

  beforeAll(async () => {
    const port = await freePort();
    [browser, database, provider] = await Promise.all([
      startBrowser(),
      createDatabase(),
      startIdentityProvider(`http://localhost:${port}/auth/idp/callback`),
    ]);
    const given = typeof settings === "function" ? settings(provider) : settings;
    applications = given.RETURN_ORIGINS?.split(",") ?? [];
    server = await startServer({ PORT: String(port), DATABASE_URL: database.url, ...provider.settings, ...given });
  });

  const takeProblems = () => problems.splice(0);

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(takeProblems()).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
    await provider.stop();
    await database.drop();
  });

  const isOwnUrl = (url: string) => url.startsWith(`${server.url}/`);

  const checkRequest = (request: Request) => {
    const { protocol } = new URL(request.url());
    if (protocol === "data:" || isOwnUrl(request.url())) return;
    const mayLeadTo = [provider.url, ...applications].some((origin) => request.url().startsWith(`${origin}/`));
    if (mayLeadTo && request.isNavigationRequest()) return;
    if (isOwnUrl(request.frame().url())) problems.push(`request to ${request.url()}`);
  };

  const listenTo = (page: Page) => {
    page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() !== "error" || !isOwnUrl(page.url())) return;
      if (isOwnUrl(message.location().url) && refusal.test(message.text())) return;
      problems.push(`console: ${message.text()} (${message.location().url})`);
    });
  };

  async function visit(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ baseURL: server.url, ...options });
    context.setDefaultTimeout(15_000);
    context.on("request", checkRequest);
    context.on("page", listenTo);
    return context.newPage();
  }

  return {
    url: () => server.url,
    /** Returns the problems so far, which then do not fail the test. */
    takeProblems,
    visit,
    async open(path: string, options?: BrowserContextOptions): Promise<Page> {
      const page = await visit(options);
      await page.goto(path, { waitUntil: "networkidle" });
      return page;
    },
    log: () => server.output(),
    mail: async (to: string, subject: string) => (await server.mail(to, subject)).text,
  };
}

export type Site = ReturnType<typeof startSite>;

export const linkIn = (text: string): string => /\S+token=\S+/.exec(text)?.[0] ?? "";

export async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

export async function arrive(page: Page, heading: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
}
