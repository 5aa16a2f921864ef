import { describe, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey({
  IDP_CLIENT_ID: "the-client",
  IDP_CLIENT_SECRET: "a-secret-value",
  APP_URL: "https://app.example",
});
const { send } = latchkey;
const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };

// Without a trusted proxy: front-door.built.test.ts.

test("the redirect URI follows the forwarded origin", async () => {
  const sent = await send("/auth/idp", { headers: forwarded });
  expect(sent.status).toBe(302);
  const { searchParams } = new URL(sent.location ?? "");
  expect(searchParams.get("redirect_uri")).toBe("https://app.example/auth/idp/callback");
});

test("cookies are Secure on a forwarded https origin", async () => {
  const sent = await send("/auth/idp", { headers: forwarded });
  const { searchParams } = new URL(sent.location ?? "");
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

describe("limits per client", () => {
  const requested = "registration.requested";

  async function registrationsFrom(clients: string[]) {
    const requestFrom = (client: string) =>
      send("/register", {
        form: { email: `${crypto.randomUUID()}@example.com` },
        headers: { "X-Forwarded-For": client },
      });
    const events = await latchkey.eventsOf(async () => {
      for (const client of clients) await requestFrom(client);
    });
    return events.filter(({ requestId }) => requestId).map(({ event }) => event);
  }

  test("count for the /64 of the last forwarded address", { tags: ["15.3.4", "CVE-2026-45364"] }, async () => {
    const ofOneNetwork = Array.from({ length: 51 }, (_, at) => `203.0.113.${at}, 2001:db8:0:1:${at}::1`);
    expect(await registrationsFrom([...ofOneNetwork, "203.0.113.0, 2001:db8:0:2::1"])).toEqual([
      ...Array(50).fill(requested),
      "registration.refused",
      requested,
    ]);
  });
});
