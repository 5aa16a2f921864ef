import { beforeEach, describe, expect, test } from "vitest";
import * as index from "~/routes/_index";
import * as authorize from "~/routes/auth.idp._index";
import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import { requireUser } from "~/visitor/session";
import { act, askForAccount, logIn } from "../support/account-calls";
import { attemptCookie, failureCookie } from "../support/cookies";
import { comeBack, google, googleAnswers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { mailSentOutcome } from "../support/mailed-links";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get, post } from "../support/route-calls";

const latchkey = startLatchkey({ ...google, RETURN_ORIGINS: "https://app.example" });

const app = "https://app.example/notes?page=2#last";
const away = "https://evil.example/";
const query = (returnTo: string) => new URLSearchParams({ return_to: returnTo });

describe("a password login", () => {
  test.each([
    ["/notes?page=2#last", "/notes?page=2#last"],
    ["/a/../notes", "/notes"],
    ["http://localhost:3000/notes", "http://localhost:3000/notes"],
    [app, app],
  ])("with return_to %s ends at the document %s", async (returnTo, location) => {
    await latchkey.createUser();
    const done = await logIn({ search: `?${query(returnTo)}` });
    expect(done).toMatchObject({ status: 302, location });
    expect(done.headers.get("X-Remix-Reload-Document")).toBe("true");
    expect(Object.keys(done.cookies)).toEqual(["session", "last_sign_in", "device"]);
  });

  test.each([
    ["another origin", `?${query(away)}`],
    ["none", ""],
    ["an empty one", "?return_to="],
    ["two", `?${query("/a")}&${query("/a")}`],
    ["a longer one", `?${query(`/${"a".repeat(2_048)}`)}`],
  ])("with %s ends at the account page", { tags: "3.7.2" }, async (_what, search) => {
    await latchkey.createUser();
    const done = await logIn({ search });
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    expect(done.headers.get("X-Remix-Reload-Document")).toBeNull();
  });

  test("that is refused leads nowhere", async () => {
    const refused = await logIn({ search: `?${query(app)}`, password: "wrong" });
    expect(refused).toMatchObject({ status: 422, location: null });
  });

  test("that is refused keeps it for the page", async () => {
    expect(await call(login.loader, post(`/login?${query(app)}`, {}))).toMatchObject({ data: { returnTo: app } });
  });

  test("the form field return_to does not count", async () => {
    await latchkey.createUser();
    const fields = { email: "ada@example.com", password: goodPassword, return_to: "/notes" };
    expect(await call(login.action, post("/login", fields))).toMatchObject({ location: "/dashboard" });
  });
});

describe("the pages for guests", () => {
  const pages = [
    ["/login", login.loader],
    ["/register", register.loader],
  ] as const;

  describe.each(pages)("%s sends a signed-in user", (path, loader) => {
    const open = async (search: string) =>
      call(loader, get(`${path}?${search}`, { cookie: await latchkey.signedIn() }));

    test.each(["/notes", app])("to the return_to %s", async (target) => {
      const sent = await open(`${query(target)}`);
      expect(sent).toMatchObject({ status: 302, location: target });
      expect(sent.headers.get("X-Remix-Reload-Document")).toBe("true");
    });

    test("to the account page for a return_to that is not allowed", async () => {
      expect(await open(`${query(away)}`)).toMatchObject({ status: 302, location: "/dashboard" });
    });

    test("to the account page with the notice of a failed sign-in", async () => {
      const sent = await open("notice=idp_failed");
      expect(sent).toMatchObject({ status: 302, location: "/dashboard?notice=idp_failed" });
    });
  });

  describe.each(pages)("%s does not send a signed-in user to itself", (path, loader) => {
    test.each([path, `http://localhost:3000${path}?a`])("by the return_to %s", async (target) => {
      const sent = await call(loader, get(`${path}?${query(target)}`, { cookie: await latchkey.signedIn() }));
      expect(sent).toMatchObject({ status: 302, location: "/dashboard" });
    });

    test("by AFTER_SIGN_IN", async () => {
      latchkey.configure({ AFTER_SIGN_IN: path });
      const sent = await call(loader, get(path, { cookie: await latchkey.signedIn() }));
      expect(sent).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  describe.each(pages)("the data of %s", (path, loader) => {
    const shown = async (returnTo: string) => (await call(loader, get(`${path}?${query(returnTo)}`))).data.returnTo;

    test("have the serialised target", async () => {
      expect(await shown("HTTPS://App.example/a/../b")).toBe("https://app.example/b");
    });

    test("have no target that is not allowed", async () => {
      expect(await shown(away)).toBeNull();
    });
  });

  const targetsOf = async (loader: unknown, path: string, target: string) =>
    (await call(loader, get(`${path}?${query(target)}`))).formTargets;

  describe.each([
    ["/login", login.loader],
    ["/register/complete", complete.loader],
  ])("the policy of %s", (path, loader) => {
    test("names the origin that its form leads to", async () => {
      expect(await targetsOf(loader, path, app)).toEqual(["https://app.example"]);
    });

    test.each(["/notes", "http://localhost:3000/notes", away])("names no origin for %s", async (target) => {
      expect(await targetsOf(loader, path, target)).toEqual([]);
    });
  });

  test("the policy of /register names no origin since its form does not sign in", async () => {
    expect(await targetsOf(register.loader, "/register", app)).toEqual([]);
  });
});

describe("AFTER_SIGN_IN", () => {
  describe("of an application", () => {
    beforeEach(() => void latchkey.configure({ AFTER_SIGN_IN: app }));

    test.each([
      ["without return_to", "", app],
      ["with a return_to that is not allowed", `?${query(away)}`, app],
      ["unless there is a return_to", `?${query("/notes")}`, "/notes"],
    ])("is where a sign-in ends %s", async (_what, search, location) => {
      await latchkey.createUser();
      expect(await logIn({ search })).toMatchObject({ location });
    });

    test.each([
      ["/", index.loader],
      ["/login", login.loader],
      ["/register", register.loader],
    ])("is where %s sends a signed-in user", async (path, loader) => {
      const sent = await call(loader, get(path, { cookie: await latchkey.signedIn() }));
      expect(sent).toMatchObject({ status: 302, location: app });
    });

    test("is not where a failed sign-in leads a signed-in user", async () => {
      const failed = get("/login?notice=idp_failed", { cookie: await latchkey.signedIn() });
      expect(await call(login.loader, failed)).toMatchObject({ location: "/dashboard?notice=idp_failed" });
    });

    test("does not replace the account page for a visitor who has opened it", async () => {
      expect(await call(dashboard.loader, get("/dashboard"))).toMatchObject({
        status: 302,
        location: "/login?return_to=%2Fdashboard",
      });
    });

    test("does not replace the account page after a form whose session has ended", async () => {
      expect(await act("", "change-name", { name: "Ada" })).toMatchObject({
        location: "/login?return_to=%2Fdashboard",
      });
    });

    test("does not replace the account page after a form that asks for a new sign-in", async () => {
      const cookie = await latchkey.signedIn();
      await latchkey.execute("update sessions set created_at = created_at - interval '16 minutes'");
      expect(await act(cookie, "remove-password")).toMatchObject({
        location: "/login?notice=sign_in_again&return_to=%2Fdashboard",
      });
    });

    test("is named by the policy of the login page", async () => {
      expect((await call(login.loader, get("/login"))).formTargets).toEqual(["https://app.example"]);
    });
  });

  describe("as /", () => {
    beforeEach(() => void latchkey.configure({ AFTER_SIGN_IN: "/" }));

    test("does not redirect / to itself", async () => {
      const cookie = await latchkey.signedIn();
      expect(await call(index.loader, get("/", { cookie }))).toMatchObject({ location: "/dashboard" });
    });

    test("is where /login sends a signed-in user", async () => {
      const cookie = await latchkey.signedIn();
      expect(await call(login.loader, get("/login", { cookie }))).toMatchObject({ location: "/" });
    });
  });
});

describe("a registration", () => {
  const ask = (email: string, target = app) => askForAccount(email, {}, `?${query(target)}`);

  async function mailedLink(): Promise<URL> {
    await ask("grace@example.com");
    await latchkey.drain();
    return latchkey.mails().at(-1)?.link ?? new URL("about:blank");
  }

  const fieldsOf = (link: URL) => Object.fromEntries(link.searchParams) as { email: string; token: string };
  const finish = (fields: Record<string, string> | [string, string][]) =>
    call(complete.action, post("/register/complete", fields));

  const job = { task: "mail_registration", language: "en" };

  test.each(["ada@example.com", "bob@example.com"])("has it in the job of the address %s", async (address) => {
    await latchkey.createUser();
    expect(await ask(address)).toEqual(mailSentOutcome(address));
    expect(await latchkey.jobs()).toEqual([{ ...job, email: address, return_to: app }]);
  });

  test("has no other origin in its job", async () => {
    await ask("grace@example.com", away);
    expect(await latchkey.jobs()).toEqual([{ ...job, email: "grace@example.com" }]);
  });

  test("mails a link that carries it", async () => {
    const link = await mailedLink();
    expect([...link.searchParams.keys()]).toEqual(["email", "token", "return_to"]);
    expect(link.searchParams.get("return_to")).toBe(app);
  });

  test("has it in the form of the link", async () => {
    const link = await mailedLink();
    const page = await call(complete.loader, get(`${link.pathname}${link.search}`));
    expect(page.data).toEqual({ ...fieldsOf(link), problem: null, passkeys: true, registrationClosed: false });
  });

  test("keeps it in a refused form", async () => {
    const link = await mailedLink();
    const refused = await finish({ ...fieldsOf(link), ...twice("short") });
    expect(refused).toMatchObject({ status: 422, data: { typed: fieldsOf(link) } });
    expect(refused.formTargets).toEqual(["https://app.example"]);
  });

  test("ends there", async () => {
    const done = await finish({ ...fieldsOf(await mailedLink()), ...twice(newPassword) });
    expect(done).toMatchObject({ status: 302, location: app });
    expect(Object.keys(done.cookies)).toEqual(["session", "last_sign_in", "device"]);
  });

  describe.each([
    ["another origin", [away]],
    ["two", ["/a", "/a"]],
  ])("whose form has %s", (_what, targets) => {
    async function post(password: string) {
      const { email, token } = fieldsOf(await mailedLink());
      const sent = targets.map((target): [string, string] => ["return_to", target]);
      return { email, token, done: await finish([...Object.entries({ email, token, ...twice(password) }), ...sent]) };
    }

    test("forgets it in a refused form", async () => {
      const { email, token, done } = await post("short");
      expect(done.data.typed).toEqual({ email, token });
    });

    test("ends at the account page", async () => {
      expect((await post(newPassword)).done).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  test("a link whose origin is no longer allowed leads to the account page", async () => {
    const link = await mailedLink();
    latchkey.configure({ RETURN_ORIGINS: "" });
    expect((await call(complete.loader, get(`${link.pathname}${link.search}`))).data.return_to).toBeUndefined();
    const done = await finish({ ...fieldsOf(link), ...twice(newPassword) });
    expect(done).toMatchObject({ location: "/dashboard" });
  });

  test("of an existing account mails the way to log in that leads there too", async () => {
    await latchkey.createUser();
    await ask("ada@example.com");
    await latchkey.drain();
    expect(latchkey.mails().at(-1)?.text).toContain(`\nhttp://localhost:3000/login?${query(app)}\n`);
  });
});

describe("an external sign-in", () => {
  const providerAnswers = () => googleAnswers({ sub: "1001", email: "ada@example.com", email_verified: true });
  const cookieHeader = (cookies: Record<string, string>) =>
    new URLSearchParams(cookies).toString().replaceAll("&", "; ");

  const start = (search = `?${query(app)}`, cookie = "") =>
    call(authorize.loader, get(`/auth/idp${search}`, { cookie }));
  const comeBackWith = (cookies: Record<string, string>, more: Record<string, string> = { code: "c" }) =>
    comeBack({ state: cookies.oauth_state ?? "", ...more }, cookieHeader(cookies));

  const cleared = (name: string) => `${name}=; HttpOnly; Max-Age=0; Path=/auth/idp; SameSite=Lax`;
  const kept = (state: string, target: string, canRestart: 0 | 1) =>
    `${attemptCookie(state)}=${canRestart}.${Buffer.from(target).toString("base64url")}.; HttpOnly; Max-Age=3600; Path=/auth/idp; SameSite=Lax`;

  test("keeps it in a cookie of the attempt", async () => {
    const sent = await start();
    const { oauth_state: state = "" } = sent.cookies;
    expect(sent.headers.getSetCookie()[1]).toBe(kept(state, app, 1));
    expect(sent.cookies[attemptCookie(state)]).toMatch(/^[\w.-]+$/);
  });

  test("does not tell it to the provider", async () => {
    expect((await start()).location).not.toContain("app.example");
  });

  test("ends there", async () => {
    const sent = await start();
    providerAnswers();
    const done = await comeBackWith(sent.cookies);
    expect(done).toMatchObject({ status: 302, location: app });
    expect(done.headers.getSetCookie()).toEqual([
      cleared("oauth_state"),
      kept(sent.cookies.oauth_state ?? "", app, 0),
      expect.stringMatching(/^session=[0-9a-f]{64}; /),
      expect.stringMatching(/^last_sign_in=provider; /),
    ]);
  });

  describe("with the longest target", () => {
    const longest = `/${"%".repeat(2_047)}`;

    test("sets a cookie that browsers keep", async () => {
      const { headers } = await start(`?${query(longest)}`);
      for (const line of headers.getSetCookie()) expect(line.split(";", 1)[0]?.length).toBeLessThan(4_096);
    });

    test("ends there", async () => {
      const sent = await start(`?${query(longest)}`);
      providerAnswers();
      expect((await comeBackWith(sent.cookies)).location).toBe(longest);
    });
  });

  describe.each([
    ["the provider's refusal", { error: "access_denied" }, "cancelled", app],
    ["another state", { code: "c", state: "0".repeat(64) }, "stale", ""],
    ["no code", {}, "", app],
  ])("that ends with %s", (_what, parameters, problem, target) => {
    const fail = async () => comeBackWith((await start()).cookies, parameters);

    test("leads to exactly /login?notice=idp_failed", async () => {
      expect(await fail()).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
    });

    test("keeps the target of its own attempt in a cookie", async () => {
      expect((await fail()).headers.getSetCookie().at(-1)).toBe(failureCookie(problem, target));
    });
  });

  test.each([
    ["without return_to", ""],
    ["with another origin", `?${query(away)}`],
  ])("%s has no target", async (_what, search) => {
    const { cookies } = await start(search, cookieHeader((await start()).cookies));
    expect(cookies).toEqual({ oauth_state: cookies.oauth_state, [attemptCookie(cookies.oauth_state ?? "")]: "1.." });
  });

  test.each([
    ["another origin", `1.${Buffer.from(away).toString("base64url")}.`],
    ["no target", "1.."],
    ["an empty value", ""],
    ["no base64url", "1.§."],
    ["another mark", `2.${Buffer.from("/notes").toString("base64url")}.`],
    ["no mark", Buffer.from("/notes").toString("base64url")],
    ["a longer target", `1.${Buffer.from(`/${"a".repeat(2_048)}`).toString("base64url")}.`],
  ])("ends at the account page with a planted cookie of %s", async (_what, planted) => {
    const { cookies } = await start("");
    providerAnswers();
    const done = await comeBackWith({ ...cookies, [attemptCookie(cookies.oauth_state ?? "")]: planted });
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("that connects the provider to an account ends at the account page", async () => {
    const cookie = await latchkey.signedIn();
    const earlier = await start();
    const asked = await act(`${cookie}; ${cookieHeader(earlier.cookies)}`, "connect-provider");
    providerAnswers();
    const session = cookie.slice("session=".length);
    const done = await comeBackWith({ ...earlier.cookies, ...asked.cookies, session });
    expect(done).toMatchObject({ location: "/dashboard?notice=idp_connected" });
    expect(done.cookies).toEqual({ oauth_state: "", oauth_connect: "" });
  });
});

describe("requireUser", () => {
  const ask = (request: Request) => call(async () => (await requireUser(request)).user.email, request);

  test("returns the user of a live session", async () => {
    const cookie = await latchkey.signedIn();
    expect(await ask(get("/notes", { cookie }))).toMatchObject({ status: 200, data: "ada@example.com" });
  });

  test.each([
    ["a page", get("/notes?page=2"), "/login?return_to=%2Fnotes%3Fpage%3D2"],
    ["a form", post("/notes?page=2", { text: "secret" }), "/login?return_to=%2Fnotes%3Fpage%3D2"],
    ["a path that no sign-in may end at", get("http://localhost:3000//evil.example"), "/login"],
    ["a path that is too long", get(`/notes?${"a".repeat(2_048)}`), "/login"],
  ])("sends a visitor of %s to the login page with the way back", async (_what, request, location) => {
    expect(await ask(request)).toMatchObject({ status: 302, location });
  });
});
