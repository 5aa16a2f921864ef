import { expect, test } from "vitest";
import { challengeIn, createKey, proofOf, registrationProof } from "../support/bound-browser";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey({ DEVICE_BOUND_SESSIONS: "on" });

const key = createKey();

/** As Chromium asks: an empty POST without cookies, `Origin` and `Sec-Fetch-*`. */
const ask = (path: string, headers: Record<string, string>) =>
  latchkey.send(`/auth/device/${path}`, { method: "POST", headers });

async function register() {
  const ada = await latchkey.register("ada@example.com");
  const { headers } = await ada.logIn();
  const answer = await ask("register", { "Secure-Session-Response": registrationProof(key, challengeIn(headers)) });
  const id: string = JSON.parse(answer.body).session_identifier;
  return { ada, id, proof: proofOf(key, challengeIn(answer.headers)) };
}

test("a browser binds its session over HTTP", async () => {
  const { ada, id, proof } = await register();
  const refreshed = await ask("refresh", { "Sec-Secure-Session-Id": id, "Secure-Session-Response": proof });
  expect([refreshed.status, refreshed.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  const bound = /bound=(\w+)/.exec(refreshed.setCookies.join())?.[1] ?? "";
  ada.cookies.set("bound", bound);
  expect((await ada.get("/auth/verify")).status).toBe(200);
  const again = await ask("refresh", { "Sec-Secure-Session-Id": id, "Secure-Session-Response": proof });
  expect([again.status, challengeIn(again.headers)]).toEqual([403, expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test.each(["register", "refresh"])("GET /auth/device/%s is 405", async (path) => {
  expect((await latchkey.send(`/auth/device/${path}`, {})).status).toBe(405);
});

test("POST to the list of origins is 405", async () => {
  expect((await latchkey.send("/.well-known/device-bound-sessions", { method: "POST" })).status).toBe(405);
});

test("an unknown identifier is 401", async () => {
  expect((await ask("refresh", { "Sec-Secure-Session-Id": "unknown" })).status).toBe(401);
});
