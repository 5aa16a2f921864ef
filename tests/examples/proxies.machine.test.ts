import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { createAccount, logIn } from "../support/browser/registration";
import { arrive } from "../support/browser/site";
import { consent } from "../support/consent";
import { sendPlainly } from "../support/http";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";
import { type Example, onOneHost, type ProxyName, register, startExample } from "./example";

const path = "/notes?page=2&tag=a%26b";
const navigation = { Accept: "text/html" };

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

afterAll(() => browser.close());

describe.each<ProxyName>(["nginx", "caddy"])("behind %s", (proxy) => {
  let example: Example;

  beforeAll(async () => {
    example = await startExample(await onOneHost(proxy));
  });

  afterAll(() => example.stop());

  async function openPrivatePage(javaScriptEnabled: boolean): Promise<Page> {
    const page = await browser.newPage({ baseURL: example.url, javaScriptEnabled });
    page.setDefaultTimeout(15_000);
    await page.goto(path);
    await arrive(page, "Log in");
    return page;
  }

  async function expectPrivatePage(page: Page, email: string): Promise<void> {
    await arrive(page, `Notes of ${email}`);
    expect(page.url()).toBe(`${example.url}${path}`);
    expect(await page.getByRole("code").textContent()).toBe(path);
  }

  describe.each([
    ["with JavaScript", true],
    ["without JavaScript", false],
  ])("%s", (_with, javaScript) => {
    const address = (name: string) => `${name}-${javaScript ? "script" : "plain"}@example.com`;

    test("a private page leads through a registration by mail back to itself until a logout", async () => {
      const page = await openPrivatePage(javaScript);
      const email = address("grace");
      await page.getByRole("link", { name: "Create one" }).click();
      await createAccount(example, page, email);
      await expectPrivatePage(page, email);
      const cookies = await page.context().cookies();
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
      expect((await sendPlainly(example.url, path, { cookie, headers: navigation })).status).toBe(200);

      await page.getByRole("button", { name: "Log out" }).click();
      await arrive(page, "Log in");
      expect((await sendPlainly(example.url, path, { cookie })).status).toBe(401);
      await page.goto("/dashboard");
      await arrive(page, "Log in");
      await page.goto(path);
      await arrive(page, "Log in");

      await logIn(page, email);
      await expectPrivatePage(page, email);
    });
  });

  test("the page shows the groups of a verified token", async () => {
    const visitor = await register(example, "member@example.com");
    const { stdout } = await example.command(
      ...["user", "groups", "member@example.com", "--add", "staff", "--add", "admins"],
    );
    expect(stdout).toBe("admins\nstaff\n");
    expect((await visitor.get(path)).body).toContain("<dt>Groups<dd>admins,staff<dt>Verified<dd>yes");
  });

  test("the application forgets who deletes the account", async () => {
    const [stayer, leaver] = ["stayer@example.com", "leaver@example.com"];
    const pages = new Map<string, Visitor>();
    for (const email of [stayer, leaver]) pages.set(email, await register(example, email));
    const page = async (email: string) => (await pages.get(email)?.get(path))?.body ?? "";
    await page(leaver);
    await page(stayer);
    expect(await page(stayer)).toContain(`<li>${leaver}`);

    const deleted = await pages.get(leaver)?.post("/dashboard", { intent: "delete-account", email: leaver });
    expect(deleted).toMatchObject({ status: 302, location: "/account-deleted" });
    await until(async () => !(await page(stayer)).includes(leaver), "the application forgets the deleted user");
    expect(await page(stayer)).toContain(`<li>${stayer}`);
  });

  test("a sign-in with a target of 2,048 characters passes beside other attempts", async () => {
    const visitor = new Visitor(example.url, undefined, sendPlainly);
    const target = (tab: number) => `/${tab}`.padEnd(2_048, "a");
    const leave = async (tab: number) => {
      const { location } = await visitor.get(`/auth/idp?${new URLSearchParams({ return_to: target(tab) })}`);
      return location ?? "";
    };
    for (const tab of [1, 2, 3]) await leave(tab);
    const cancelled = new URL(await leave(4)).searchParams.get("state") ?? "";
    const failure = await visitor.comeBack({ error: "access_denied", state: cancelled });
    expect(failure).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
    expect((await visitor.get("/login?notice=idp_failed")).body).toContain(target(4));
    const done = await visitor.get(await consent(await leave(5), "longest@example.com"));
    expect(done).toMatchObject({ status: 302, location: target(5) });
  });

  test("the doctor finds nothing wrong beside the running service", async () => {
    const { status, stdout } = await example.command("doctor");
    expect(stdout).toContain(`ok    APP_URL       ${example.url} leads to this service\n`);
    expect(stdout).toContain("ok    proxy         sends what TRUST_PROXY expects\n");
    expect(status).toBe(0);
  });

  describe("for other clients", () => {
    let visitor: Visitor;

    beforeAll(async () => {
      visitor = await register(example, "client@example.com");
    });

    test.each([
      ["X-Forwarded-Uri", "https://evil.example/"],
      ["X-Forwarded-Host", "evil.example"],
      ["X-Forwarded-Proto", "https"],
      ["X-Forwarded-Method", "POST"],
      ["X-Forwarded-Prefix", "/auth"],
      ["X-Forwarded-For", "203.0.113.9"],
    ])(
      "a forged %s changes nothing",
      { tags: ["CVE-2026-35051", "CVE-2026-40575", "CVE-2026-76835"] },
      async (name, value) => {
        const headers = { ...navigation, [name]: value };
        expect((await visitor.get(path, headers)).status).toBe(200);
        const location = `${example.url}/login?${new URLSearchParams({ return_to: `${example.url}${path}` })}`;
        expect(await sendPlainly(example.url, path, { headers })).toMatchObject({ status: 302, location });
        expect((await sendPlainly(example.url, path, { headers: { [name]: value } })).status).toBe(401);
      },
    );

    test.each([
      ["a script", { headers: { Accept: "application/json" } }],
      ["a form", { headers: navigation, form: { note: "x" } }],
      ["a preflight", { method: "OPTIONS" }],
    ])("%s without a session gets 401", async (_what, sent) => {
      expect((await sendPlainly(example.url, path, sent)).status).toBe(401);
    });

    test.each(
      ["/login", "/register", "/register/complete", "/forgot-password", "/reset-password", "/auth/idp"].concat(
        ["/account-deleted", "/favicon.svg", "/auth/session", "/no-access", "/login.data", "/__manifest?version=x"],
        ["/.well-known/change-password", "/.well-known/jwks.json"],
      ),
    )("%s reaches Latchkey", async (own) => {
      const { headers } = await visitor.get(own); // the application has no such header
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    });

    test.each(["/", "/loginx", "/notes/login", "/healthz", "/favicon.ico"])(
      "%s reaches the application",
      async (other) => {
        expect((await visitor.get(other)).body).toContain("<h1>Notes of client@example.com</h1>");
        expect((await sendPlainly(example.url, other)).status).toBe(401);
      },
    );
  });
});
