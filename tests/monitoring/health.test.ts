import { beforeEach, expect, test, vi } from "vitest";
import { connectionFor } from "#server/database/connection";
import * as migrations from "#server/database/migrate";
import { connect } from "#server/database/orm";
import { orm, setOrm } from "#server/database/unit-of-work";
import { log, logUnexpected } from "#server/log";
import * as login from "~/routes/login";
import { openLogin } from "../support/account-calls";
import { callEndpoint } from "../support/endpoint-calls";
import { startLatchkey } from "../support/latchkey";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey();

let now = Math.ceil(performance.now()); // whole, because x + 1000 - x can be below 1000

function passSecond(): void {
  now += 1_000; // ms
  vi.spyOn(performance, "now").mockReturnValue(now);
}

beforeEach(passSecond);

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

test("/healthz is 200 while the process runs, and /readyz while all migrations are applied", async () => {
  expect(await callEndpoint("/healthz")).toMatchObject({ status: 200, body: "ok\n" });
  expect(await callEndpoint("/readyz")).toMatchObject({ status: 200, body: "ready\n" });
  await latchkey.execute("update mikro_orm_migrations set name = name || '_of_another_time'");
  passSecond();
  expect(await callEndpoint("/readyz")).toMatchObject({ status: 503, body: "not ready\n" });
  await latchkey.execute("update mikro_orm_migrations set name = replace(name, '_of_another_time', '')");
});

test("/readyz asks the database at most once a second", async () => {
  const asked = vi.spyOn(migrations, "hasEveryMigration");
  const answers = await Promise.all(Array.from({ length: 50 }, () => callEndpoint("/readyz")));
  expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
  expect(asked).toHaveBeenCalledTimes(1);
  passSecond();
  await callEndpoint("/readyz");
  expect(asked).toHaveBeenCalledTimes(2);
});

test("/.well-known/passkey-endpoints leads password managers to the account page, where passkeys are on", async () => {
  const page = "http://localhost:3000/dashboard";
  expect(JSON.parse(String((await callEndpoint("/.well-known/passkey-endpoints"))?.body))).toEqual({
    enroll: page,
    manage: page,
  });
  latchkey.configure({ APP_URL: "http://login.example" });
  expect(await callEndpoint("/.well-known/passkey-endpoints")).toBeNull();
});

test("without a database pages and /readyz are 503, and /healthz is 200", { tags: "16.5.2" }, async () => {
  vi.spyOn(log, "warn").mockImplementation(() => {});
  await withoutDatabase(async () => {
    expect((await openLogin("", { cookie: "session=anything" })).status).toBe(503);
    expect((await call(login.action, post("/login", { email: "ada@example.com", password: "x" }))).status).toBe(503);
    expect(await callEndpoint("/readyz")).toMatchObject({ status: 503 });
    expect(await callEndpoint("/healthz")).toMatchObject({ status: 200 });
  });
  expect((await openLogin("", { cookie: "session=anything" })).status).toBe(200);
});

test("an unexpected error is logged with its stack, without its message", { tags: "16.3.4" }, () => {
  const logged = vi.spyOn(log, "error").mockImplementation(() => {});
  logUnexpected(new TypeError("of ada@example.com\n    at a line of the message:1:2"));
  const [{ stack, ...fields }] = logged.mock.calls[0] as unknown as [{ stack: string[] }];
  expect(fields).toEqual({ error: "TypeError" });
  expect(stack.length).toBeGreaterThan(0);
  expect(stack[0]).toContain("health.test.ts");
  expect(stack.join()).not.toMatch(/message|ada/);
});
