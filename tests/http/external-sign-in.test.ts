import { expect, test } from "vitest";
import { comeBack } from "../support/external-sign-in";
import type { Answer } from "../support/http";
import { runLatchkey } from "../support/running-latchkey";
import { runScriptedProvider } from "../support/scripted-provider";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

const clearedState = "oauth_state=; HttpOnly; Path=/auth/idp; SameSite=Lax; Max-Age=0";

function expectRefusal(answer: Answer): void {
  expect(answer).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
  expect(answer.headers.getSetCookie().map(attributesInOrder)).toEqual([attributesInOrder(clearedState)]);
}

const attributesInOrder = (line: string) => line.split("; ").sort().join("; ");

const evil = { next: "//evil.example", redirect_uri: "https://evil.example", returnTo: "https://evil.example" };

test("a sign-in sets the state in a cookie, exchanges the code once and ends at the dashboard", {
  tags: "3.7.2",
}, async () => {
  const visitor = latchkey.visit();
  const started = await visitor.get(`/auth/idp?${new URLSearchParams(evil)}`);
  const asked = new URL(started.location ?? "");
  const state = asked.searchParams.get("state") ?? "";
  const redirect_uri = `${latchkey.url()}/auth/idp/callback`;
  expect(`${asked.origin}${asked.pathname}`).toBe(`${provider.issuer}/authorize`);
  expect(Object.fromEntries(asked.searchParams)).toEqual({
    client_id: "latchkey",
    redirect_uri,
    response_type: "code",
    scope: "openid email profile",
    state: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(started.headers.getSetCookie().map(attributesInOrder)).toEqual([
    attributesInOrder(`oauth_state=${state}; HttpOnly; Path=/auth/idp; SameSite=Lax; Max-Age=600`),
  ]);

  const back = await comeBack(visitor, { code: "the-code", state, ...evil });
  expect(back).toMatchObject({ status: 302, location: "/dashboard" });
  expect([...visitor.cookies.keys()]).toEqual(["session"]);
  expectRefusal(await comeBack(visitor, { code: "the-code", state }));
  const credentials = { client_id: "latchkey", client_secret: "s3cret-of-the-client" };
  expect(provider.tokenRequests()).toEqual([
    { code: "the-code", ...credentials, redirect_uri, grant_type: "authorization_code" },
  ]);
});

test("HEAD is answered 405 without a request to the provider, a cookie or a session, and the state stays valid", async () => {
  const visitor = latchkey.visit();
  const started = await visitor.get("/auth/idp");
  const state = new URL(started.location ?? "").searchParams.get("state") ?? "";
  const events = await latchkey.eventsOf(async () => {
    for (const path of ["/auth/idp/callback", "/auth/idp/callback.data", "/auth/idp", "/auth/idp.data"]) {
      const head = await latchkey.send(`${path}?code=c&state=${state}`, { method: "HEAD", cookie: visitor.cookie });
      expect({ path, status: head.status }).toEqual({ path, status: 405 });
      if (!path.endsWith(".data")) expect(head.headers.get("Allow")).toBe("GET");
      expect(head).toMatchObject({ location: null, setCookies: [] });
    }
  });
  expect(events).toEqual([]);
  expect(provider.tokenRequests()).toEqual([]);
  expect((await comeBack(visitor, { code: "c", state })).location).toBe("/dashboard");
});
