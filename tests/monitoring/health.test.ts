import { expect, test, vi } from "vitest";
import { connectionFor } from "#server/database/connection";
import { connect } from "#server/database/orm";
import { orm, setOrm } from "#server/database/unit-of-work";
import { answerEndpoint } from "#server/door/endpoint-answers";
import { endpointOf } from "#server/endpoints/endpoints";
import { log, logUnexpected } from "#server/log";
import * as login from "~/routes/login";
import { openLogin } from "../support/account-calls";
import { callEndpoint } from "../support/endpoint-calls";
import { startLatchkey } from "../support/latchkey";
import { call, factsAbout, get, post } from "../support/route-calls";

const latchkey = startLatchkey();

/** The same service with a PostgreSQL URL on which no server listens. */
async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  const present = orm();
  const absent = await connect(await connectionFor("postgresql://nobody@127.0.0.1:1/nothing"));
  setOrm(absent.orm);
  try {
    await work();
  } finally {
    setOrm(present);
    await absent.close();
  }
}

test("/healthz is 200 while the process runs", async () => {
  expect(await callEndpoint("/healthz")).toMatchObject({ status: 200, body: "ok\n" });
});

test("/readyz is 200 while all migrations are applied", async () => {
  expect(await callEndpoint("/readyz")).toMatchObject({ status: 200, body: "ready\n" });
});

test("/readyz is 503 while a migration is not applied", async () => {
  await latchkey.execute("update mikro_orm_migrations set name = name || '_of_another_time'");
  expect(await callEndpoint("/readyz")).toMatchObject({ status: 503, body: "not ready\n" });
  await latchkey.execute("update mikro_orm_migrations set name = replace(name, '_of_another_time', '')");
});

test("/.well-known/passkey-endpoints leads password managers to the account page", async () => {
  const page = "http://localhost:3000/dashboard";
  expect(JSON.parse(String((await callEndpoint("/.well-known/passkey-endpoints"))?.body))).toEqual({
    enroll: page,
    manage: page,
  });
});

test("without passkeys there is no /.well-known/passkey-endpoints", async () => {
  latchkey.configure({ APP_URL: "http://login.example" });
  expect(await callEndpoint("/.well-known/passkey-endpoints")).toBeNull();
});

test("without a database pages are 503", { tags: "16.5.2" }, async () => {
  vi.spyOn(log, "warn").mockImplementation(() => {});
  await withoutDatabase(async () => {
    expect((await openLogin("", { cookie: "session=anything" })).status).toBe(503);
    expect((await call(login.action, post("/login", { email: "ada@example.com", password: "x" }))).status).toBe(503);
  });
});

test("after a failure of the database pages are 200", { tags: "16.5.2" }, async () => {
  vi.spyOn(log, "warn").mockImplementation(() => {});
  await withoutDatabase(async () => {
    await openLogin("", { cookie: "session=anything" });
  });
  expect((await openLogin("", { cookie: "session=anything" })).status).toBe(200);
});

test.each([
  ["/readyz", 503],
  ["/healthz", 200],
])("without a database %s is %i", { tags: "16.5.2" }, async (path, status) => {
  vi.spyOn(log, "warn").mockImplementation(() => {});
  await withoutDatabase(async () => {
    expect(await callEndpoint(path)).toMatchObject({ status });
  });
});

test("without a database a refresh of a session is 503", async () => {
  vi.spyOn(log, "warn").mockImplementation(() => {});
  const path = "/auth/device/refresh";
  const facts = factsAbout(get(path));
  facts.response.req.headers["sec-secure-session-id"] = "anything";
  await withoutDatabase(() => answerEndpoint(endpointOf(path)!, facts, () => {}));
  expect(facts.response.statusCode).toBe(503);
});

function loggedError(): { stack: string[] } {
  const logged = vi.spyOn(log, "error").mockImplementation(() => {});
  logUnexpected(new TypeError("of ada@example.com\n    at a line of the message:1:2"));
  return logged.mock.calls[0]![0] as unknown as { stack: string[] };
}

test("an unexpected error is logged with its stack", { tags: "16.3.4" }, () => {
  const { stack, ...fields } = loggedError();
  expect(fields).toEqual({ error: "TypeError" });
  expect(stack.length).toBeGreaterThan(0);
  expect(stack[0]).toContain("health.test.ts");
});

test("an unexpected error is logged without its message", { tags: "16.3.4" }, () => {
  expect(loggedError().stack.join()).not.toMatch(/message|ada/);
});
