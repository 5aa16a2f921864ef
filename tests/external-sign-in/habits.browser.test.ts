import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { newAddress } from "../support/browser/registration";
import { arrive, signInAtProvider, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";

// What people do at the provider, and what each ends with.

const site = startSite();

const target = "/dashboard?tab=1";
const signIn = { name: "Sign in with single sign-on" };

async function leave(page: Page): Promise<void> {
  await page.goto(`/login?${new URLSearchParams({ return_to: target })}`);
  await page.getByRole("link", signIn).click();
  await page.getByPlaceholder("Enter any login").waitFor();
}

/** At the target, and no alarm there. */
async function expectAt(page: Page, path: string): Promise<void> {
  await page.waitForURL(`**${path}`);
  await arrive(page, "Your account");
  expect(await page.getByRole("alert").count()).toBe(0);
}

test("a callback from the history ends signed in without an alarm", async () => {
  const page = await site.visit();
  const callbacks: string[] = [];
  page.on("request", (request) => request.url().includes("/callback?") && callbacks.push(request.url()));
  await leave(page);
  await signInAtProvider(page, newAddress());
  await expectAt(page, target);
  await page.goto(callbacks[0] ?? "");
  await expectAt(page, target);
  await page.goto(`/auth/idp/callback?code=c&state=${"0".repeat(64)}`);
  await expectAt(page, "/dashboard");
  await page.goBack();
  await expectAt(page, target);
});

test("a double click on the provider's button ends signed in", async () => {
  const page = await site.open(`/login?${new URLSearchParams({ return_to: target })}`);
  await page.getByRole("link", signIn).dblclick();
  await signInAtProvider(page, newAddress());
  await expectAt(page, target);
});

test("another try after a cancel ends at the target", async () => {
  const page = await site.visit(surveyed);
  await leave(page);
  await page.getByRole("link", { name: "[ Cancel ]" }).click();
  await page.getByText("It was cancelled.").waitFor();
  await survey(page, "sign-in-cancelled");
  await page.getByRole("link", { name: "Try again" }).click();
  await signInAtProvider(page, newAddress());
  await expectAt(page, target);
  await page.goto("/login?notice=idp_failed");
  await expectAt(page, target);
});

test("after an address that is not confirmed another account works", async () => {
  const page = await site.visit(surveyed);
  await leave(page);
  await signInAtProvider(page, `unverified-${newAddress()}`);
  await page.getByText("Your email address is not confirmed by single sign-on.").waitFor();
  expect(await page.getByRole("link", { name: "Try again" }).count()).toBe(0);
  await survey(page, "sign-in-unverified");
  await page.getByRole("link", { name: "Use another account" }).click();
  await signInAtProvider(page, newAddress());
  await expectAt(page, target);
});
