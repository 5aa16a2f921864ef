import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database.server";
import { type Answer, cookieOf, mailedLink, send } from "../support/http";
import { createDatabase, type RunningServer, startServer, type TestDatabase } from "../support/server";

const email = "grace.hopper+1@example.com";
const first = "the first of her passwords";
const second = "the second of her passwords";

let database: TestDatabase;
let server: RunningServer;

beforeAll(async () => {
  database = await createDatabase();
  server = await startServer({ DATABASE_URL: database.url });
});

afterAll(async () => {
  await server.stop();
  await database.drop();
});

/** Opens a mailed link and posts its form with `password`, as the page that it leads to says. */
async function finish(link: string, password: string): Promise<{ token: string; done: Answer }> {
  const page = await send(server, link);
  expect(page.status).toBe(200);
  const [, token = ""] = /name="token" value="([0-9a-f]{64})"/.exec(page.body) ?? [];
  expect(page.body).toContain(`value="${email}"`);
  const [, action = ""] = /<form method="post" action="([^"]+)"/.exec(page.body) ?? [];
  const form = { email, token, password, passwordConfirmation: password };
  return { token, done: await send(server, action, { form }) };
}

/** Every row of every table of every schema, as text. */
async function dump(url: string): Promise<string> {
  const { orm, close } = await openDatabase(url);
  const tables = await orm.em.fork().execute<{ name: string }[]>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    for (const row of await orm.em.fork().execute<{ row: string }[]>(`select t::text as row from ${name} t`)) {
      rows.push(`${name} ${row.row}`);
    }
  }
  await close();
  return rows.join("\n");
}

const sessionCookie = /^session=[0-9a-f]{64}; Expires=[^;]+ GMT; HttpOnly; Path=\/; SameSite=Lax$/;

test("register, log out, forget the password, reset it, log in: nothing secret stays in the database or the log", async () => {
  await send(server, "/register", { form: { email } });
  const registration = await finish(await mailedLink(server, "Finish creating your account", email), first);
  expect(registration.done).toMatchObject({ status: 302, location: "/dashboard" });
  expect(registration.done.setCookies).toEqual([expect.stringMatching(sessionCookie)]);
  const registered = cookieOf(registration.done);

  const dashboard = await send(server, "/dashboard", { cookie: registered });
  expect(dashboard.status).toBe(200);
  expect(dashboard.body).toContain(email);
  for (const page of ["/login", "/register", "/"]) {
    expect(await send(server, page, { cookie: registered })).toMatchObject({ status: 302, location: "/dashboard" });
  }

  const form = { headers: { "Content-Type": "application/x-www-form-urlencoded" }, form: {} };
  const out = await send(server, "/logout", { ...form, cookie: registered });
  expect(out).toMatchObject({ status: 302, location: "/login" });
  expect(out.setCookies).toEqual(["session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path=/; SameSite=Lax"]);
  expect((await send(server, "/dashboard", { cookie: registered })).location).toBe("/login");

  const elsewhere = cookieOf(await send(server, "/login", { form: { email, password: first } }));
  expect((await send(server, "/dashboard", { cookie: elsewhere })).status).toBe(200);

  await send(server, "/forgot-password", { form: { email } });
  const reset = await finish(await mailedLink(server, "Reset your password", email), second);
  expect(reset.done).toMatchObject({ status: 302, location: "/login?notice=password_reset", setCookies: [] });
  expect((await send(server, "/login?notice=password_reset")).body).toContain("Your password was changed.");
  expect((await send(server, "/dashboard", { cookie: elsewhere })).location).toBe("/login");
  await server.waitFor(/Subject: Your password was changed\n[\s\S]*?--- end mail ---/);

  expect((await send(server, "/login", { form: { email, password: first } })).status).toBe(422);
  const back = await send(server, "/login", { form: { email, password: second } });
  expect(back).toMatchObject({ status: 302, location: "/dashboard" });
  expect((await send(server, "/dashboard", { cookie: cookieOf(back) })).status).toBe(200);

  const mails = server.output().length;
  await send(server, "/forgot-password", { form: { email } });
  await server.waitFor(/(?:Subject: Reset your password[\s\S]*){2}--- end mail ---[\s\S]*password_reset\.sent/);
  const [, active = ""] = /token=([0-9a-f]{64})/.exec(server.output().slice(mails)) ?? [];
  expect(await server.stop()).toBe(0);

  const output = server.output();
  const log = output.replaceAll(/--- mail ---\n[\s\S]*?\n--- end mail ---\n/g, "");
  const rows = await dump(database.url);
  expect(rows).toContain(email);
  expect(rows).toContain(createHash("sha256").update(active).digest("hex"));
  const sessions = [registered, elsewhere, cookieOf(back)].map((cookie) => cookie.slice("session=".length));
  const secrets = [registration.token, reset.token, active, ...sessions, first, second];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(20);
    for (const spelling of [
      secret,
      secret.toUpperCase(),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
    ]) {
      expect(rows).not.toContain(spelling);
      expect(log).not.toContain(spelling);
    }
  }
  expect(output.split(active).length - 1).toBe(1);

  expect(log).toContain("GET /reset-password 200");
  expect(log).toContain("GET /login 200");
  expect(log).not.toMatch(/^(?:GET|HEAD|POST) [^ ]*[?&=]/m);
  expect(log).not.toContain(email);

  const events = log
    .split("\n")
    .filter((line) => line.includes('"event"'))
    .map((line) => JSON.parse(line));
  expect(events.map(({ event }) => event)).toEqual([
    "registration.requested",
    "registration.sent",
    "registration.completed",
    "session.ended",
    "login.succeeded",
    "password_reset.requested",
    "password_reset.sent",
    "password_reset.completed",
    "session.ended",
    "login.failed",
    "login.succeeded",
    "password_reset.requested",
    "password_reset.sent",
  ]);
  for (const { event, time, userId, reason } of events) {
    expect(time, event).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    if (/completed|succeeded|ended|reset\.sent/.test(event)) expect(userId, event).toMatch(/^[0-9a-f-]{36}$/);
    if (/failed|refused/.test(event)) expect(reason, event).toMatch(/^\w+$/);
  }
}, 60_000);
