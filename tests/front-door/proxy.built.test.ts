import { describe, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const idp = { IDP_CLIENT_ID: "the-client", IDP_CLIENT_SECRET: "a-secret-value" };
const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };

const redirectUri = (location: string | null) => new URL(location ?? "").searchParams.get("redirect_uri");

describe("behind a trusted proxy", () => {
  const latchkey = runLatchkey({ ...idp, APP_URL: "https://app.example" });
  const { send } = latchkey;

  test("the redirect URI, Secure and HSTS follow the forwarded origin", async () => {
    const sent = await send("/auth/idp", { headers: forwarded });
    expect(sent.status).toBe(302);
    expect(redirectUri(sent.location)).toBe("https://app.example/auth/idp/callback");
    expect(sent.setCookies).toEqual([
      expect.stringMatching(
        /^oauth_state=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax; Secure$/,
      ),
      expect.stringMatching(/^oauth_attempt_[0-9a-f]{32}=/),
    ]);
    expect(new URL(sent.location ?? "").searchParams.get("state")).toBe(sent.setCookies[0]?.slice(12, 76));
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
    const requestFrom = async (client: string) => {
      const form = { email: `client-${++requests}@example.com` };
      const events = await latchkey.eventsOf(() => send("/register", { form, headers: { "X-Forwarded-For": client } }));
      return events.find(({ requestId }) => requestId)?.event;
    };
    for (let at = 1; at <= 50; at++) {
      expect(await requestFrom(`203.0.113.${at}, 2001:db8:0:1::${at}`)).toBe("registration.requested");
    }
    expect(await requestFrom("203.0.113.99, 2001:db8:0:1:ffff::1")).toBe("registration.refused");
    expect(await requestFrom("2001:db8:0:2::1")).toBe("registration.requested");
  });
});

describe("without a trusted proxy", () => {
  const latchkey = runLatchkey({ ...idp, TRUST_PROXY: "false" });
  const { exchange, send } = latchkey;

  test("forwarded headers do not change the origin or the cookies", { tags: "4.1.3" }, async () => {
    const sent = await send("/auth/idp", { headers: forwarded });
    expect(redirectUri(sent.location)).toBe(`${latchkey.url()}/auth/idp/callback`);
    expect(sent.setCookies).toEqual([
      expect.stringMatching(/^oauth_state=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax$/),
      expect.stringMatching(/^oauth_attempt_[0-9a-f]{32}=/),
    ]);
    expect(sent.headers.has("Strict-Transport-Security")).toBe(false);
    const form = { email: "ada@example.com", password: "wrong" };
    const foreign = await send("/login", { form, headers: { ...forwarded, Origin: "https://app.example" } });
    expect(foreign.status).toBe(403);
    expect((await send("/login", { form, headers: forwarded })).status).toBe(422);
  });

  test("mailed links have the configured origin, whatever the Host", { tags: "CVE-2026-93453" }, async () => {
    const body = "email=grace%40example.com";
    const sent = await exchange([
      "POST /register HTTP/1.1",
      "Host: evil.example",
      "Origin: http://evil.example",
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${body.length}`,
      "Connection: close",
      "",
      body,
    ]);
    expect(sent.status).toBe(200);
    const { text } = await latchkey.mailTo("grace@example.com", "Finish creating your account");
    expect(text).toContain(`\n${latchkey.url()}/register/complete?email=grace%40example.com&token=`);
    expect(text).not.toContain("evil.example");
  });
});
