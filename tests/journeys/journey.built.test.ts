import { expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { type Answer, cookieOf } from "../support/http";
import { twice } from "../support/passwords";
import type { SentMail } from "../support/printed-mails";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";

const email = "grace.hopper+1@example.com";
const first = "the first of her passwords";
const second = "the second of her passwords";

const latchkey = runLatchkey({ TRUST_PROXY: "false" });
const { send } = latchkey;

async function finish({ link }: SentMail, password: string): Promise<{ token: string; done: Answer }> {
  const page = await send(`${link?.pathname}${link?.search}`);
  expect(page.status).toBe(200);
  const [, token = ""] = /name="token" value="([0-9a-f]{64})"/.exec(page.body) ?? [];
  expect(page.body).toContain(`value="${email}"`);
  const [, action = ""] = /<form method="post" action="([^"]+)"/.exec(page.body) ?? [];
  const form = { email, token, ...twice(password) };
  return { token, done: await send(action, { form }) };
}

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

test("register, log out, forget the password, reset it, log in: neither the database nor the log contains a secret", {
  tags: ["14.2.2", "14.3.2", "16.2.5"],
}, async () => {
  await send("/register", { form: { email } });
  const registration = await finish(await latchkey.mailTo(email, "Finish creating your account"), first);
  expect(registration.done).toMatchObject({ status: 302, location: "/dashboard" });
  const registered = cookieOf(registration.done);

  for (const path of ["/dashboard", "/dashboard.data"]) {
    const dashboard = await send(path, { cookie: registered });
    expect(dashboard).toMatchObject({ status: 200, body: expect.stringContaining(email) });
    expect(dashboard.headers.get("Cache-Control")).toBe("no-store");
    expect((await send(path)).body).not.toContain(email);
  }
  const headers = { "Content-Type": "application/x-www-form-urlencoded" }; // Remix must not take the GET for a form
  for (const page of ["/login", "/register", "/"]) {
    expect(await send(page, { cookie: registered, headers })).toMatchObject({ status: 302, location: "/dashboard" });
  }

  const out = await send("/logout", { headers, form: {}, cookie: registered });
  expect(out).toMatchObject({ status: 302, location: "/login" });
  expect((await send("/dashboard", { cookie: registered })).location).toBe("/login");

  const elsewhere = cookieOf(await send("/login", { form: { email, password: first } }));
  expect((await send("/dashboard", { cookie: elsewhere })).status).toBe(200);

  await send("/forgot-password", { form: { email } });
  const reset = await finish(await latchkey.mailTo(email, "Reset your password"), second);
  expect(reset.done).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(reset.done.setCookies).toEqual([expect.stringMatching(/^device=/)]);
  expect((await send("/login?notice=password_reset")).body).toContain("Your password was changed.");
  expect((await send("/dashboard", { cookie: elsewhere })).location).toBe("/login");
  await latchkey.waitFor(/Subject: Your password was changed\n[\s\S]*?--- end mail ---/);

  expect((await send("/login", { form: { email, password: first } })).status).toBe(422);
  const back = await send("/login", { form: { email, password: second } });
  expect(back).toMatchObject({ status: 302, location: "/dashboard" });
  expect((await send("/dashboard", { cookie: cookieOf(back) })).status).toBe(200);

  const mails = latchkey.output().length;
  await send("/forgot-password", { form: { email } });
  await latchkey.waitFor(/(?:Subject: Reset your password[\s\S]*){2}--- end mail ---[\s\S]*password_reset\.sent/);
  const [, active = ""] = /token=([0-9a-f]{64})/.exec(latchkey.output().slice(mails)) ?? [];
  expect(await latchkey.stop()).toBe(0);

  const output = latchkey.output();
  const log = output.replaceAll(/--- mail ---\n[\s\S]*?\n--- end mail ---\n/g, "");
  const rows = await dump(latchkey.databaseUrl());
  expect(rows).toContain(email);
  expect(rows).toContain(sha256(active));
  const cookies = [registered, elsewhere, cookieOf(back)].flatMap((cookie) => cookie.match(/[0-9a-f]{64}/g) ?? []);
  expect(cookies).toHaveLength(6);
  const secrets = [registration.token, reset.token, active, ...cookies, first, second];
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
});
