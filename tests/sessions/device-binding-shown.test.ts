import nock from "nock";
import { expect, test } from "vitest";
import { checkBinding } from "#server/commands/doctor/address";
import { countSessions } from "#server/features/owner/own-sessions";
import { openAccount } from "../support/account-calls";
import { BoundBrowser } from "../support/bound-browser";
import { configure } from "../support/configure";
import { callEndpoint } from "../support/endpoint-calls";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey({ DEVICE_BOUND_SESSIONS: "on" });

const onSite = {
  DEVICE_BOUND_SESSIONS: "on",
  APP_URL: "https://login.example.org",
  SESSION_DOMAIN: "example.org",
};

/** One bound session, and one of another browser. */
async function signInTwice(): Promise<BoundBrowser> {
  const id = await latchkey.createUser();
  const browser = await new BoundBrowser().bind();
  await latchkey.execute("update session_bindings set bound_from = now() - interval '1 minute'");
  await latchkey.signedIn(id);
  return browser;
}

test("the session list says which sessions are bound", async () => {
  const { data } = await openAccount((await signInTwice()).cookie);
  expect(data.sessions).toMatchObject([
    { current: true, bound: true },
    { current: false, bound: false },
  ]);
});

test("the account page knows whether its session is bound", async () => {
  const { cookie } = await signInTwice();
  const unbound = async () => (await openAccount(cookie)).data.unbound;
  expect(await unbound()).toBe(false);
  await latchkey.execute("update session_bindings set bound_from = null");
  expect(await unbound()).toBe(true);
  latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
  expect(await unbound()).toBe(false);
});

test("user show says which sessions are bound", async () => {
  await signInTwice();
  const { stdout } = await latchkey.command("user", "show", "ada@example.com");
  expect(stdout.match(/, bound to its device$/gm)).toHaveLength(1);
});

test("the metrics count bound sessions apart from the others", async () => {
  await signInTwice();
  expect(await countSessions()).toEqual({ bound: 1, unbound: 1 });
});

const wellKnown = "/.well-known/device-bound-sessions";

test("the site's own host may take the list of origins from Latchkey", async () => {
  latchkey.configure(onSite);
  const answer = await callEndpoint(wellKnown);
  expect(answer).toMatchObject({ status: 200, headers: { "Content-Type": "application/json" } });
  expect(JSON.parse(String(answer?.body))).toEqual({ registering_origins: ["https://login.example.org"] });
});

test("there is no list of origins while DEVICE_BOUND_SESSIONS is off", async () => {
  latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
  expect(await callEndpoint(wellKnown)).toBeNull();
});

test.each([
  ["is ok with this origin", 200, { registering_origins: ["https://login.example.org"] }, "ok"],
  ["warns of a list without this origin", 200, { registering_origins: ["https://other.example.org"] }, "warn"],
  ["warns of a file that is missing", 404, {}, "warn"],
  ["warns of another document", 200, {}, "warn"],
])("the doctor's look at the site's own host %s", async (_what, status, body, expected) => {
  nock("https://example.org").get(wellKnown).reply(status, body);
  expect(await checkBinding(configure(onSite))).toMatchObject([{ status: expected, name: "binding" }]);
});

test("the doctor asks nobody without SESSION_DOMAIN", async () => {
  expect(await checkBinding(configure({ DEVICE_BOUND_SESSIONS: "on" }))).toMatchObject([{ status: "ok" }]);
});

test("an APP_URL over http fails the start with DEVICE_BOUND_SESSIONS=on", () => {
  expect(() => configure({ DEVICE_BOUND_SESSIONS: "on", APP_URL: "http://login.example.org" })).toThrow(
    "DEVICE_BOUND_SESSIONS must be off",
  );
});
