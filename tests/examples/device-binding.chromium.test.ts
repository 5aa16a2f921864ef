import { createServer } from "node:http";
import { join } from "node:path";
import pg from "pg";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { startBindingBrowser } from "../support/browser/chromium";
import { logIn, register } from "../support/browser/registration";
import { arrive } from "../support/browser/site";
import { createAuthority } from "../support/certificates";
import { sendPlainly } from "../support/http";
import { listen } from "../support/listen";
import { PostgresCluster } from "../support/postgres-cluster";
import { until } from "../support/until";
import { type Example, onOneHost, overTls, type ProxyName, type StartApplication, startExample } from "./example";

/** The application's page has a form. A websocket gets its cookies and is closed. */
const startPage: StartApplication = async (port) => {
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<title>${request.method}</title><form method=post><button>Send</button></form>`);
  });
  server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
  return listen(server, port);
};

const authority = createAuthority();
const certificate = { ...authority.sign("DNS:localhost"), ca: authority.ca };

const minute = 60_000;
const email = "ada@example.com";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start({ settings: { fsync: "off" } });
});

afterAll(() => cluster.remove());

const newDatabase = async () => ({ url: await cluster.createDatabase(), drop: async () => {} });

describe.each<ProxyName>(["nginx", "caddy"])("behind %s", (proxy) => {
  let example: Example;
  let database: pg.Client;
  let profile: Awaited<ReturnType<typeof temporaryFolder>>;
  let browser: BrowserContext;
  let page: Page;
  const asked: string[] = [];

  beforeAll(async () => {
    profile = await temporaryFolder();
    const { settings, ...installation } = await overTls(await onOneHost(proxy), profile.folder, certificate);
    const on = { ...settings, DEVICE_BOUND_SESSIONS: "on" };
    example = await startExample({ ...installation, settings: on }, startPage, newDatabase);
    database = new pg.Client({ connectionString: example.server.databaseUrl });
    await database.connect();
    browser = await startBindingBrowser(join(profile.folder, "profile"), example.url, certificate);
    page = await browser.newPage();
    await register(example, page, email);
    await until(async () => (await bindings()).length === 1, "the browser registers its key");
    await page.goto("/page");
    await move(minute);
  });

  afterAll(async () => {
    await browser.close();
    await database.end();
    await example.stop();
    await profile.remove();
  });

  beforeEach(async () => {
    asked.length = 0;
    await browser.clearCookies({ name: "__Host-bound" }); // as it is after ten minutes
  });

  const bindings = async () =>
    (await database.query("select * from session_bindings where public_key is not null")).rows;

  /** Lets the time of the bindings go by. */
  const move = (ms: number) =>
    database.query(
      `update session_bindings set bound_from = bound_from - $1 * interval '1 ms', cookies = coalesce((
         select jsonb_agg(c || jsonb_build_object('until', (c->>'until')::bigint - $1::bigint))
         from jsonb_array_elements(cookies) c), '[]')`,
      [ms],
    );

  const refreshed = async () => (await browser.cookies()).some(({ name }) => name === "__Host-bound");
  const cookieHeader = async () => (await browser.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");

  const ask = (cookie: string) => sendPlainly(example.url, "/page", { cookie, connection: { ca: certificate.ca } });

  test("the first refresh binds the session", async () => {
    expect(await bindings()).toMatchObject([{ bound_from: expect.any(Date) }]);
  });

  test("a navigation waits for a refresh", async () => {
    expect((await page.goto("/page"))?.status()).toBe(200);
    expect(await refreshed()).toBe(true);
  });

  test("a fetch waits for a refresh", async () => {
    expect(await page.evaluate(async () => (await fetch("/data")).status)).toBe(200);
  });

  test("a form waits for a refresh", async () => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForFunction(() => document.title === "POST");
    expect(await refreshed()).toBe(true);
  });

  test("a link of another site waits for a refresh", async () => {
    const other = await listen(
      createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html");
        response.end(`<a href="${example.url}/page">Go</a>`);
      }),
    );
    await page.goto(`http://other.test:${other.port}/`);
    const [answer] = await Promise.all([
      page.waitForResponse(`${example.url}/page`),
      page.getByRole("link", { name: "Go" }).click(),
    ]);
    expect(answer.status()).toBe(200);
    await other.stop();
  });

  test("a websocket waits for a refresh", async () => {
    await page.goto("/page");
    await browser.clearCookies({ name: "__Host-bound" });
    await page.evaluate(
      (url) => new Promise((resolve) => new WebSocket(url).addEventListener("error", resolve)),
      `${example.url.replace("http", "ws")}/socket`,
    );
    expect(await refreshed()).toBe(true);
  });

  test("a page of Latchkey waits for a refresh", async () => {
    await page.goto("/dashboard");
    await arrive(page, "Your account");
    expect(await page.getByText("Bound to its device").count()).toBe(1);
  });

  test("a copied session cookie opens nothing", async () => {
    await page.goto("/page");
    const session = (await cookieHeader()).replace(/; __Host-bound=\w+|__Host-bound=\w+; /, "");
    expect((await ask(session)).status).toBe(401);
  });

  test("a copied pair of cookies opens nothing after ten minutes", async () => {
    await page.goto("/page");
    const cookie = await cookieHeader();
    expect((await ask(cookie)).status).toBe(200);
    await move(10 * minute);
    expect((await ask(cookie)).status).toBe(401);
  });

  test("a challenge that counts no more signs nobody out", async () => {
    await database.query("update session_bindings set challenges = '[]'"); // as after a refresh whose answer was lost
    expect((await page.goto("/page"))?.status()).toBe(200);
  });

  test("a service that is away at the refresh signs nobody out", async () => {
    await database.query("alter table session_bindings rename to away");
    expect((await page.goto("/dashboard"))?.status()).toBe(500);
    await database.query("alter table away rename to session_bindings");
    await until(async () => (await page.goto("/page"))?.status() === 200, "the next refresh");
  });

  test("a new sign-in binds the new session", async () => {
    await page.goto("/dashboard");
    await page.getByRole("button", { name: "Log out" }).click();
    await arrive(page, "Log in");
    expect(await bindings()).toEqual([]);
    await logIn(page, email);
    await arrive(page, "Your account");
    await until(async () => (await bindings()).length === 1, "the browser registers its key");
    expect((await page.goto("/page"))?.status()).toBe(200);
    await until(refreshed, "the first refresh");
    await move(minute);
    await browser.clearCookies({ name: "__Host-bound" });
    expect((await page.goto("/page"))?.status()).toBe(200);
  });
});
