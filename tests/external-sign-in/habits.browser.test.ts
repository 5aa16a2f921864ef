import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { logIn, logOut, newAddress, password, register } from "../support/browser/registration";
import { arrive, signInAtProvider, startSite } from "../support/browser/site";
import { photograph, survey, surveyed } from "../support/browser/survey";
import { listen } from "../support/listen";

// What people do at the provider, and what each ends with.

/** In front of the token endpoint: holds the next answer back, so that the browser waits for its callback. */
async function startSlowTokens() {
  let tokenUrl = "";
  let release: (() => void) | null = null;
  let asked = () => {};
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const type = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch(tokenUrl, { method: "POST", headers: type, body });
    const text = await answer.text();
    const send = () => response.writeHead(answer.status, { "Content-Type": "application/json" }).end(text);
    if (!holding) return void send();
    holding = false;
    release = send;
    asked();
  });
  let holding = false;
  const { port, stop } = await listen(server);
  return {
    url: `http://localhost:${port}/token`,
    forwardTo(url: string) {
      tokenUrl = url;
    },
    /** Resolves when the next code was used, whose answer waits for `release`. */
    holdNext: () =>
      new Promise<void>((resolve) => {
        holding = true;
        asked = resolve;
      }),
    release: () => release?.(),
    stop,
  };
}

const tokens = await startSlowTokens();
afterAll(tokens.stop);

const site = startSite((provider) => {
  tokens.forwardTo(`${provider.url}/token`);
  return { IDP_TOKEN_URL: tokens.url };
});

const target = (tab: number) => `/dashboard?tab=${tab}`;

async function leave(page: Page, returnTo = target(0)): Promise<void> {
  await page.goto(`/login?${new URLSearchParams({ return_to: returnTo })}`);
  await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
  await page.getByPlaceholder("Enter any login").waitFor();
}

async function typeLogin(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
}

/** At the target, and no alarm there. */
async function expectAt(page: Page, path: string): Promise<void> {
  await page.waitForURL(`**${path}`);
  await arrive(page, "Your account");
  expect(await page.getByRole("alert").count()).toBe(0);
}

const sessions = (page: Page) => page.getByText("Signed in", { exact: false }).filter({ has: page.locator("time") });

test("several tabs that finish in another order end signed in, each at its target", async () => {
  const first = await site.visit();
  const tabs = [first];
  while (tabs.length < 3) tabs.push(await first.context().newPage());
  for (const [tab, page] of tabs.entries()) await leave(page, target(tab));
  const name = newAddress();
  for (const [place, tab] of [2, 0, 1].entries()) {
    const page = tabs[tab] as Page;
    await typeLogin(page, name);
    if (place === 0) await page.getByRole("button", { name: "Continue" }).click(); // the provider asks once
    await expectAt(page, target(tab));
  }
  await photograph(first, "sign-in-tabs");
});

test("Back after a sign-in, and the callback from the history, end signed in without an alarm", async () => {
  const page = await site.visit();
  const callbacks: string[] = [];
  page.on("request", (request) => request.url().includes("/callback?") && callbacks.push(request.url()));
  await leave(page, target(1));
  await signInAtProvider(page, newAddress());
  await expectAt(page, target(1));
  await page.goto(callbacks[0] ?? "");
  await expectAt(page, target(1));
  await page.goto(`/auth/idp/callback?code=c&state=${"0".repeat(64)}`);
  await expectAt(page, "/dashboard");
  await photograph(page, "sign-in-old-callback");
  await page.goBack();
  await expectAt(page, target(1));
});

test("a reload during a slow callback ends signed in, with one session", async () => {
  const page = await site.visit();
  const used = tokens.holdNext();
  await leave(page, target(1));
  await typeLogin(page, newAddress());
  const callback = page.waitForRequest(/\/auth\/idp\/callback/);
  await page.getByRole("button", { name: "Continue" }).click({ noWaitAfter: true });
  await used;
  const url = (await callback).url();
  await page.goto(url);
  tokens.release();
  // The provider takes back its consent when a code is used twice.
  await page.getByRole("button", { name: "Continue" }).click();
  await expectAt(page, target(1));
  expect(await sessions(page).count()).toBe(1);
  await photograph(page, "sign-in-slow-reload");
});

test("a double click on the provider's button ends signed in", async () => {
  const page = await site.open(`/login?${new URLSearchParams({ return_to: target(1) })}`);
  await page.getByRole("link", { name: "Sign in with single sign-on" }).dblclick();
  await signInAtProvider(page, newAddress());
  await expectAt(page, target(1));
});

test.each(["Try again", "the password"])("after a cancel, %s ends at the target", async (how) => {
  const page = await site.visit(surveyed);
  const email = newAddress();
  await register(site, page, email);
  await logOut(page);
  await leave(page, target(1));
  await page.getByRole("link", { name: "[ Cancel ]" }).click();
  await page.getByText("It was cancelled.").waitFor();
  if (how === "Try again") {
    await survey(page, "sign-in-cancelled");
    await page.getByRole("link", { name: "Try again" }).click();
    await signInAtProvider(page, newAddress());
  } else {
    await logIn(page, email, password);
  }
  await expectAt(page, target(1));
  await page.goto("/login?notice=idp_failed");
  await expectAt(page, target(1));
});

test("eleven minutes at the provider end signed in, at the target", async () => {
  const page = await site.visit();
  await leave(page, target(1));
  await page.context().clearCookies({ name: "oauth_state" }); // as it expires after ten
  await signInAtProvider(page, newAddress());
  await expectAt(page, target(1));
  await photograph(page, "sign-in-eleven-minutes");
});

test("an address that is not confirmed says how to go on, and another account works", async () => {
  const page = await site.visit(surveyed);
  await leave(page, target(1));
  await signInAtProvider(page, `unverified-${newAddress()}`);
  await page.getByText("Your email address is not confirmed by single sign-on.").waitFor();
  expect(await page.getByRole("link", { name: "Try again" }).count()).toBe(0);
  await survey(page, "sign-in-unverified");
  await page.getByRole("link", { name: "Use another account" }).click();
  await signInAtProvider(page, newAddress());
  await expectAt(page, target(1));
  await photograph(page, "sign-in-another-account");
});
