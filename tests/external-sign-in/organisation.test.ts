import { describe, expect, test } from "vitest";
import { capSessions } from "#server/accounts/sessions/sessions";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import { logIn, openAccount } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get, post } from "../support/route-calls";

const latchkey = startLatchkey(google);

const open = (path: string, cookie?: string) => call(login.loader, get(path, { cookie }));

describe("SIGN_IN_REDIRECT=on", () => {
  const on = () => latchkey.configure({ ...google, SIGN_IN_REDIRECT: "on" });

  test("sends a guest of /login on to the provider, with the target", async () => {
    on();
    expect(await open("/login")).toMatchObject({ status: 302, location: "/auth/idp" });
    expect((await open("/login?return_to=/hello")).location).toBe("/auth/idp?return_to=%2Fhello");
  });

  test.each(["signed_out", "password_reset", "idp_failed", "anything", ""])(
    "keeps the page for the notice %j",
    async (notice) => {
      on();
      expect((await open(`/login?notice=${notice}`)).status).toBe(200);
    },
  );

  test("sends a signed-in user where a sign-in ends, and keeps a refused form's page", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await open("/login", cookie)).location).toBe("/dashboard");
    const refused = get("/login", { headers: { "Content-Type": "application/x-www-form-urlencoded" } });
    expect((await call(login.loader, refused)).status).toBe(200);
  });

  test("a logout ends where it says so, and not at the provider", async () => {
    const userId = await latchkey.createUser();
    const leave = async () =>
      (await call(logout.action, post("/logout", {}, { cookie: await latchkey.signedIn(userId) }))).location;
    expect(await leave()).toBe("/login");
    on();
    expect(await leave()).toBe("/login?notice=signed_out");
    expect((await open("/login?notice=signed_out")).data).toMatchObject({ notice: "signed_out", idpEnabled: true });
  });
});

describe("SESSION_IDLE and SESSION_MAX", () => {
  const hour = 3_600_000; // ms

  test("end a session after that many hours without use, and from the sign-in", async () => {
    latchkey.configure({ SESSION_IDLE: "2", SESSION_MAX: "10" });
    await latchkey.createUser();
    const signedIn = await logIn();
    const cookie = `session=${signedIn.cookies.session}`;
    const [row] = await latchkey.execute<{ created_at: string; expires_at: string }>("select * from sessions");
    expect(Date.parse(row!.expires_at) - Date.parse(row!.created_at)).toBe(10 * hour);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '119 minutes'");
    expect((await openAccount(cookie)).status).toBe(200);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '121 minutes'");
    expect((await openAccount(cookie)).location).toBe("/login");
  });

  test("a session in use stays: its last use is written once in a twelfth of SESSION_IDLE", async () => {
    latchkey.configure({ SESSION_IDLE: "2" });
    const cookie = await latchkey.signedIn();
    const lastSeen = async () =>
      (await latchkey.execute<{ last_seen_at: string }>("select * from sessions"))[0]!.last_seen_at;
    await latchkey.execute("update sessions set last_seen_at = now() - interval '9 minutes'");
    const before = await lastSeen();
    await openAccount(cookie);
    expect(await lastSeen()).toEqual(before);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '11 minutes'");
    await openAccount(cookie);
    expect(Date.now() - Date.parse(await lastSeen())).toBeLessThan(60_000);
  });

  test("hold for sessions that exist: the next start shortens them, and lengthens none", async () => {
    await latchkey.signedIn();
    latchkey.configure({ SESSION_MAX: "24" });
    await capSessions(latchkey.em());
    const lifetime = async () => {
      const [row] = await latchkey.execute<{ created_at: string; expires_at: string }>("select * from sessions");
      return Date.parse(row!.expires_at) - Date.parse(row!.created_at);
    };
    expect(await lifetime()).toBe(24 * hour);
    latchkey.configure({ SESSION_MAX: "48" });
    await capSessions(latchkey.em());
    expect(await lifetime()).toBe(24 * hour);
  });
});
