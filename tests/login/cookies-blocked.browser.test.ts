import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { startWithoutCookies } from "../support/browser/chromium";
import { logIn, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";

const site = startSite();

const notice = "Your browser blocks cookies, and nobody can log in without one.";

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let context: BrowserContext;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  place = await temporaryFolder();
  context = await startWithoutCookies(place.folder);
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
});

afterAll(async () => {
  await context.close();
  await place.remove();
});

test.each(["/login", "/register"])("%s says at once that cookies are blocked", async (path) => {
  await page.goto(site.url() + path, { waitUntil: "networkidle" });
  await page.getByRole("alert").filter({ hasText: notice }).waitFor();
  expect(await page.evaluate(() => navigator.cookieEnabled)).toBe(true);
  expect(errors).toEqual([]);
});

test("a navigation in the browser leads to the same notice", async () => {
  await page.goto(`${site.url()}/register`, { waitUntil: "networkidle" });
  await page.getByRole("link", { name: "Log in", exact: true }).click();
  await arrive(page, "Log in");
  await page.getByRole("alert").filter({ hasText: notice }).waitFor();
  expect(errors).toEqual([]);
});

test("a page that needs no cookie has no notice", async () => {
  await page.goto(`${site.url()}/login`, { waitUntil: "networkidle" });
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await arrive(page, "Forgot your password?");
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(errors).toEqual([]);
});

test("a sign-in with the right password ends at the notice of the login page", async () => {
  const email = "ada@example.com";
  await register(site, await site.visit(), email);
  await page.goto(`${site.url()}/login`, { waitUntil: "networkidle" });
  await logIn(page, email);
  await page.waitForLoadState("networkidle");
  await arrive(page, "Log in");
  await page.getByRole("alert").filter({ hasText: notice }).waitFor();
  expect(errors).toEqual([]);
});

test("a browser with cookies is told nothing", async () => {
  const other = await site.open("/login");
  expect(await other.getByRole("alert").count()).toBe(0);
});

test("a browser with cookies keeps no cookie of the try", async () => {
  const other = await site.open("/login");
  await other.waitForFunction(() => document.cookie === "");
});
