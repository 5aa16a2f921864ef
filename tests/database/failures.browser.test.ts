import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { look } from "../support/browser/look";
import { arrive, signInAtProvider, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";
import { pageTexts } from "../support/browser/visits";
import { administer } from "../support/postgres";
import { PostgresCluster } from "../support/postgres-cluster";
import { until } from "../support/until";

let cluster: PostgresCluster;
let databaseUrl: string;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  databaseUrl = await cluster.createDatabase();
});

const site = startSite(() => ({ DATABASE_URL: databaseUrl }), /50[03]/);

afterAll(() => cluster.remove());

async function signedIn(name: string): Promise<Page> {
  const page = await site.open("/login", surveyed);
  await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
  await signInAtProvider(page, name);
  await arrive(page, "Your account");
  return page;
}

const requestIdOn = async (page: Page) => {
  const text = (await page.locator("main").textContent()) ?? "";
  return `"requestId":"${/Request ID: ([\w-]{36})/.exec(text)?.[1]}"`;
};

test("a page or a form is 503 until the database is back", {
  timeout: 300_000,
}, async () => {
  const page = await signedIn("ada");
  const guest = await site.open("/login");
  await cluster.stop();

  const answer = await page.reload({ waitUntil: "networkidle" });
  expect(answer?.status()).toBe(503);
  await arrive(page, "Back in a moment");
  await survey(page, "error-503");
  expect(site.log()).toContain(await requestIdOn(page));

  for (const language of Object.keys(languages) as Language[]) {
    const other = await site.visit({ ...surveyed, locale: language });
    await other.context().addCookies([{ name: "session", value: "0".repeat(64), url: site.url() }]);
    await other.goto("/dashboard");
    await arrive(other, pageTexts(language)("errors.title503"));
    expect(await look(other, language, "error-503")).toEqual([]);
  }

  await guest.getByLabel("Email").fill("ada@example.com");
  await guest.getByLabel("Password", { exact: true }).fill("quiet lamps over the harbour");
  await guest.getByRole("button", { name: "Log in" }).click();
  await guest.getByText("We cannot answer right now.").waitFor();
  expect(site.log()).toContain(await requestIdOn(guest));
  expect(await guest.getByLabel("Email").inputValue()).toBe("ada@example.com");
  for (const [path, label] of [
    ["/register", "Continue"],
    ["/forgot-password", "Send the link"],
  ] as const) {
    const withoutScripts = await site.visit({ javaScriptEnabled: false });
    await withoutScripts.goto(path);
    await withoutScripts.getByLabel("Email").fill("ada@example.com");
    await withoutScripts.getByRole("button", { name: label, exact: true }).click();
    await withoutScripts.getByText("We cannot answer right now.").waitFor();
    expect(await withoutScripts.getByLabel("Email").inputValue()).toBe("ada@example.com");
  }

  await cluster.start();
  await until(async () => (await page.request.get("/readyz")).ok(), "ready again");
  await page.getByRole("link", { name: "Try again" }).click();
  await arrive(page, "Your account");
  await guest.getByLabel("Password", { exact: true }).fill("quiet lamps over the harbour");
  await guest.getByRole("button", { name: "Log in" }).click();
  await guest.getByText("Email or password is incorrect.").waitFor();
});

test("a page is 500 until its table is back", { tags: "16.5.1" }, async () => {
  const page = await signedIn("grace");
  await administer(databaseUrl, "alter table sessions rename to sessions_renamed");
  const answer = await page.reload({ waitUntil: "networkidle" });
  expect(answer?.status()).toBe(500);
  await arrive(page, "Something went wrong");
  expect(site.log()).toContain(await requestIdOn(page));
  expect(await page.content()).not.toMatch(/from sessions|relation| {4}at /);
  await survey(page, "error-500");

  await administer(databaseUrl, "alter table sessions_renamed rename to sessions");
  await page.getByRole("link", { name: "Try again" }).click();
  await arrive(page, "Your account");
});
