import { expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey({
  IDP_CLIENT_ID: "the-client",
  IDP_CLIENT_SECRET: "a-secret-value",
  APP_URL: "https://app.example",
});
const { send } = latchkey;
const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };

// Without a trusted proxy: front-door.built.test.ts.

test("the redirect URI, Secure and HSTS follow the forwarded origin", async () => {
  const sent = await send("/auth/idp", { headers: forwarded });
  expect(sent.status).toBe(302);
  const { searchParams } = new URL(sent.location ?? "");
  expect(searchParams.get("redirect_uri")).toBe("https://app.example/auth/idp/callback");
  expect(sent.setCookies).toEqual([
    `oauth_state=${searchParams.get("state")}; HttpOnly; Max-Age=600; Path=/auth/idp; SameSite=Lax; Secure`,
    expect.stringMatching(/^__Host-oauth=[0-9a-f]{64}; HttpOnly; Max-Age=3600; Path=\/; SameSite=Lax; Secure$/),
    expect.stringMatching(/^oauth_attempt_[0-9a-f]{32}=/),
  ]);
});

test.each<[string, Record<string, string>]>([
  ["/auth/idp/callback.data", {}],
  ["/auth/idp/callback.data", { "Sec-Fetch-Mode": "navigate" }],
  ["/auth/idp/callback", { "Sec-Fetch-Mode": "no-cors" }],
  ["/auth/idp/callback", { "Sec-Fetch-Mode": "cors" }],
])("a request of %s with %j is no outcome of a sign-in", async (path, headers) => {
  const refused = await send(`${path}?code=c&state=s`, { headers: { ...forwarded, ...headers } });
  expect([refused.status, refused.setCookies, refused.location]).toEqual([403, [], null]);
});

test.each(["/login", "/dashboard", "/favicon.svg", "/nowhere", "/healthz"])(
  "%s has HSTS on https only",
  { tags: "3.4.1" },
  async (path) => {
    const encrypted = await send(path, { headers: forwarded });
    expect(encrypted.headers.get("Strict-Transport-Security")).toBe("max-age=63072000; includeSubDomains");
    const plain = await send(path, { headers: { ...forwarded, "X-Forwarded-Proto": "http" } });
    expect(plain.headers.has("Strict-Transport-Security")).toBe(false);
  },
);

test("the Origin of a form is compared with the forwarded origin", async () => {
  const form = { email: "ada@example.com", password: "wrong" };
  const status = async (Origin: string) => (await send("/login", { form, headers: { ...forwarded, Origin } })).status;
  expect(await status("https://app.example")).toBe(422);
  expect(await status("http://app.example")).toBe(403);
  expect(await status(latchkey.url())).toBe(403);
  expect(await status("https://app.example.evil.example")).toBe(403);
});

test("a client is the last forwarded address, and an IPv6 client its /64", {
  tags: ["15.3.4", "CVE-2026-45364"],
}, async () => {
  let requests = 0;
  const requestFrom = (client: string) => {
    const form = { email: `client-${++requests}@example.com` };
    return send("/register", { form, headers: { "X-Forwarded-For": client } });
  };
  const events = await latchkey.eventsOf(async () => {
    for (let at = 1; at <= 50; at++) await requestFrom(`203.0.113.${at}, 2001:db8:0:1::${at}`);
    await requestFrom("203.0.113.99, 2001:db8:0:1:ffff::1");
    await requestFrom("2001:db8:0:2::1");
  });
  const answered = events.filter(({ requestId }) => requestId).map(({ event }) => event);
  const requested = "registration.requested";
  expect(answered).toEqual([...Array(50).fill(requested), "registration.refused", requested]);
});
