import net from "node:net";
import { describe, expect, test } from "vitest";
import { password, runLatchkey } from "../support/running-latchkey";
import { runScriptedProvider } from "../support/scripted-provider";
import { twice } from "../support/twice";
import type { Visitor } from "../support/visitor";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

const https = { "X-Forwarded-Proto": "https" };

/** Whether the dashboard is 200 with this `Cookie` header. */
async function isSignedIn(cookie: string, headers: Record<string, string> = {}): Promise<boolean> {
  return (await latchkey.visit().get("/dashboard", { Cookie: cookie, ...headers })).status === 200;
}

async function logIn(email: string, visitor = latchkey.visit()): Promise<Visitor> {
  await visitor.post("/login", { email, password });
  return visitor;
}

const attributes = (line: string) => line.split("; ").slice(1).sort();

describe("the cookie", () => {
  test("on http: session, for this host and every path, HttpOnly", async () => {
    await latchkey.register("http@example.com");
    const answer = await latchkey.visit().post("/login", { email: "http@example.com", password });
    const [line = "", ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([expect.stringMatching(/^device=/)]);
    expect(line).toMatch(/^session=[0-9a-f]{64}; /);
    expect(attributes(line)).toEqual([expect.stringMatching(/^Expires=/), "HttpOnly", "Path=/", "SameSite=Lax"]);
  });

  test("on https: __Host-session, Secure; other names are not accepted", async () => {
    await latchkey.register("https@example.com");
    const secure = { ...https, Origin: latchkey.url().replace("http:", "https:") };
    const answer = await latchkey.visit().post("/login", { email: "https@example.com", password }, secure);
    const [line = ""] = answer.headers.getSetCookie();
    expect(line).toMatch(/^__Host-session=[0-9a-f]{64}; /);
    expect(attributes(line)).toEqual([
      expect.stringMatching(/^Expires=/),
      "HttpOnly",
      "Path=/",
      "SameSite=Lax",
      "Secure",
    ]);
    const token = /=([0-9a-f]{64})/.exec(line)?.[1];
    expect(await isSignedIn(`__Host-session=${token}`, https)).toBe(true);
    for (const name of ["session", "%5F%5FHost-session", "__host-session", "__HOST-SESSION", "__Host-session\u00a0"]) {
      expect(await isSignedIn(`${name}=${token}`, https)).toBe(false);
    }
  });

  test.each([
    ["\u00a0__Host-session=x", "beside-1@example.com"],
    ["__Host-session\u00a0=x", "beside-2@example.com"],
    ["__Host-sessionX", "beside-3@example.com"],
  ])("is not the second one of its name beside %j, which a sibling host can set", async (planted, email) => {
    const { cookies } = await latchkey.register(email);
    const own = `__Host-session=${cookies.get("session")}`;
    expect(await isSignedIn(`${own}; ${planted}`, https)).toBe(true);
    expect(await isSignedIn(`${planted}; ${own}`, https)).toBe(true);
    expect(await isSignedIn(`${own}; __Host-session=x`, https)).toBe(false);
  });

  test("is accepted only with the exact token and name", async () => {
    const { cookies } = await latchkey.register("strict@example.com");
    const token = cookies.get("session") ?? "";
    expect(await isSignedIn(`session=${token}`)).toBe(true);
    for (const value of [
      "",
      token.toUpperCase(),
      `${token}0`,
      token.slice(1),
      ` ${token.slice(0, 32)}`,
      `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
      "0".repeat(64),
      "a".repeat(7_000),
      "' or '1'='1",
      "[object Object]",
      "\u00ff\u00fe",
    ]) {
      expect(await isSignedIn(`session=${value}`)).toBe(false);
    }
    expect(await isSignedIn(`Session=${token}`)).toBe(false);
    expect(await isSignedIn(`%73ession=${token}`)).toBe(false);
  });

  test("is set only by a sign-in", async () => {
    const visitor = await latchkey.register("quiet@example.com");
    for (const path of ["/dashboard", "/login", "/forgot-password", "/nowhere", "/dashboard.data"]) {
      expect((await visitor.get(path)).headers.getSetCookie()).toEqual([]);
    }
  });
});

describe("every sign-in starts a new session", () => {
  test("a planted token is not adopted (session fixation)", async () => {
    await latchkey.register("fixed@example.com");
    const planted = "f".repeat(64);
    const victim = latchkey.visit();
    victim.cookies.set("session", planted);
    await logIn("fixed@example.com", victim);
    expect(victim.cookies.get("session")).not.toBe(planted);
    expect(await isSignedIn(`session=${planted}`)).toBe(false);
    expect(await isSignedIn(victim.cookie)).toBe(true);
  });

  test("a login ends the browser's previous session, even another user's", async () => {
    const first = await latchkey.register("first@example.com");
    const before = first.cookie;
    await latchkey.register("second@example.com");
    await logIn("second@example.com", first);
    expect(first.cookie).not.toBe(before);
    expect(await isSignedIn(before)).toBe(false);
    expect((await first.get("/dashboard")).body).toContain("second@example.com");
  });

  test("a registration ends the browser's previous session", async () => {
    const visitor = await latchkey.register("elder@example.com");
    const before = visitor.cookie;
    const other = latchkey.visit();
    await other.post("/register", { email: "younger@example.com" });
    const { link } = await latchkey.mailTo("younger@example.com", "Finish creating your account");
    const token = link?.searchParams.get("token") ?? "";
    const claim = { email: "younger@example.com", token, ...twice(password) };
    expect((await visitor.post("/register/complete", claim)).location).toBe("/dashboard");
    expect(await isSignedIn(before)).toBe(false);
    expect(await isSignedIn(visitor.cookie)).toBe(true);
  });

  test("a failed login keeps the browser's session", async () => {
    const visitor = await latchkey.register("mistyped@example.com");
    const before = visitor.cookie;
    expect((await visitor.post("/login", { email: "mistyped@example.com", password: "wrong password" })).status).toBe(
      422,
    );
    expect(visitor.cookie).toBe(before);
    expect(await isSignedIn(before)).toBe(true);
  });
});

describe("a session is ended by", () => {
  test("logout, in the database: a copy of the cookie is not accepted either", async () => {
    const visitor = await latchkey.register("leaves@example.com");
    const copy = visitor.cookie;
    const left = await visitor.post("/logout");
    expect(left.location).toBe("/login");
    expect([...visitor.cookies.keys()]).toEqual(["device"]);
    expect(await isSignedIn(copy)).toBe(false);
    expect((await latchkey.visit().post("/logout", {}, { Cookie: copy })).location).toBe("/login");
  });

  test("a reset, with all sessions of the user and no other user's", async () => {
    const email = "resets@example.com";
    const one = await latchkey.register(email);
    const two = await logIn(email);
    const bystander = await latchkey.register("bystander@example.com");
    const link = await latchkey.resetLink(email);
    const renewed = twice("an entirely new password");
    const reset = await two.post("/reset-password", { ...link, ...renewed });
    expect(reset.location).toBe("/login?notice=password_reset");
    expect(await isSignedIn(one.cookie)).toBe(false);
    expect(await isSignedIn(two.cookie)).toBe(false);
    expect(await isSignedIn(bystander.cookie)).toBe(true);
  });

  test("no refused reset", async () => {
    const email = "stays@example.com";
    const visitor = await latchkey.register(email);
    const link = await latchkey.resetLink(email);
    expect((await visitor.post("/reset-password", { ...link, ...twice("short") })).status).toBe(422);
    expect(await isSignedIn(visitor.cookie)).toBe(true);
  });

  test("its user from another browser, and not by another user", async () => {
    const email = "owner@example.com";
    const owner = await latchkey.register(email);
    const lost = await logIn(email);
    const sessionIds = (body: string) =>
      [...body.matchAll(/name="sessionId" value="([^"]+)"/g)].map(([, id]) => id ?? "");
    const ids = sessionIds((await owner.get("/dashboard")).body);
    const own = sessionIds((await lost.get("/dashboard")).body);
    const sessionId = [...new Set([...ids, ...own])];
    expect(sessionId.length).toBeGreaterThan(0);

    const otherUser = await latchkey.register("stranger@example.com");
    for (const id of sessionId) {
      expect((await otherUser.post("/dashboard", { intent: "end-session", sessionId: id })).status).toBe(422);
    }
    expect(await isSignedIn(lost.cookie)).toBe(true);
    expect((await otherUser.post("/dashboard", { intent: "end-other-sessions" })).status).toBe(200);
    expect(await isSignedIn(lost.cookie)).toBe(true);
    expect(await isSignedIn(owner.cookie)).toBe(true);

    expect((await owner.post("/dashboard", { intent: "end-other-sessions" })).status).toBe(200);
    expect(await isSignedIn(lost.cookie)).toBe(false);
    expect(await isSignedIn(owner.cookie)).toBe(true);
  });

  test("the deletion of the account", async () => {
    const email = "gone@example.com";
    const one = await latchkey.register(email);
    const two = await logIn(email);
    await one.post("/dashboard", { intent: "delete-account", email });
    expect(await isSignedIn(one.cookie)).toBe(false);
    expect(await isSignedIn(two.cookie)).toBe(false);
    expect((await latchkey.visit().post("/login", { email, password })).status).toBe(422);
  });
});

test("a request whose session ends while it is in flight does not renew the session", async () => {
  const visitor = await latchkey.register("in-flight@example.com");
  const { cookie } = visitor;
  const socket = net.connect(latchkey.port(), "127.0.0.1");
  const answered = new Promise<string>((resolve) => {
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("close", () => resolve(answer));
  });
  const field = "intent=send-password-link";
  const head = [
    "POST /dashboard HTTP/1.1",
    `Host: localhost:${latchkey.port()}`,
    "Connection: close",
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${field.length}`,
    `Cookie: ${cookie}`,
  ];
  await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\nintent=`, resolve));
  await visitor.post("/logout");
  socket.write(field.slice("intent=".length));
  const answer = await answered;
  expect(answer).toMatch(/^HTTP\/1\.1 302 /);
  expect(answer).toMatch(/\r\nlocation: \/login\r\n/i);
  expect(answer).not.toMatch(/\r\nset-cookie/i);
  expect(await isSignedIn(cookie)).toBe(false);
});

test("a session is ended by a logout among 20 simultaneous requests", async () => {
  const visitor = await latchkey.register("crowded@example.com");
  const { cookie } = visitor;
  const reads = Array.from({ length: 20 }, () => latchkey.visit().get("/dashboard", { Cookie: cookie }));
  await Promise.all([...reads, visitor.post("/logout")]);
  expect(await isSignedIn(cookie)).toBe(false);
});

test("a signed-in page is no-store, and not shown without a session", async () => {
  const visitor = await latchkey.register("private@example.com");
  for (const path of ["/dashboard", "/dashboard.data"]) {
    const answer = await visitor.get(path);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.body).toContain("private@example.com");
    expect((await latchkey.visit().get(path)).body).not.toContain("private@example.com");
  }
});
