import { expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { goodPassword, newPassword } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";

const email = "grace.hopper+1@example.com";

const latchkey = runLatchkey({ ACCESS_TOKENS: "on" });

/** Opens the mailed link. @returns the fields of its form */
async function openLink(subject: string): Promise<Record<string, string>> {
  const { link } = await latchkey.mailTo(email, subject);
  expect((await latchkey.send(`${link?.pathname}${link?.search}`)).status).toBe(200);
  return Object.fromEntries(link?.searchParams ?? []);
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

test("a registration with a reset leaves no secret in the database or the log", {
  tags: ["14.2.2", "14.3.2", "16.2.5"],
}, async () => {
  const visitor = latchkey.visit();
  await visitor.post("/register", { email });
  const registration = await openLink("Finish creating your account");
  expect(await visitor.finishRegistration(registration)).toMatchObject({ status: 302, location: "/dashboard" });
  const registered = visitor.cookie;

  for (const path of ["/dashboard", "/dashboard.data"]) {
    const dashboard = await visitor.get(path);
    expect(dashboard).toMatchObject({ status: 200, body: expect.stringContaining(email) });
    expect(dashboard.headers.get("Cache-Control")).toBe("no-store");
    expect((await latchkey.send(path)).body).not.toContain(email);
  }
  const headers = { "Content-Type": "application/x-www-form-urlencoded" }; // Remix must not take the GET for a form
  for (const page of ["/login", "/register", "/"]) {
    expect(await visitor.get(page, headers)).toMatchObject({ status: 302, location: "/dashboard" });
  }
  const [, origin = ""] = /<option value="(http[^"]+)"/.exec((await visitor.get("/account/tokens")).body) ?? [];
  const made = await visitor.post("/account/tokens", { intent: "make-token", name: "Build", origin, days: "7" });
  const [accessToken = ""] = /latchkey_[\w-]{43}/.exec(made.body) ?? [];
  expect(made).toMatchObject({ status: 200 });
  expect(made.headers.get("Cache-Control")).toBe("no-store");
  expect((await latchkey.send(`/nowhere/${accessToken}`)).status).toBe(404);
  expect((await latchkey.send(`/auth/verify?tokens=${accessToken}`)).status).toBe(400);
  const programs = { Authorization: `Bearer ${accessToken}`, "X-Forwarded-Host": new URL(origin).host };
  expect((await latchkey.send("/auth/verify?tokens=on", { headers: programs })).status).toBe(200);
  await latchkey.mailTo(email, "A token for a program was made");
  expect(await visitor.post("/logout")).toMatchObject({ status: 302, location: "/login" });
  expect((await latchkey.send("/dashboard", { cookie: registered })).location).toBe("/login");

  const elsewhere = latchkey.visit();
  await elsewhere.logIn(email);
  await visitor.askForReset(email);
  const reset = await openLink("Reset your password");
  const done = await visitor.reset(reset);
  expect(done).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(done.setCookies).toEqual([
    expect.stringMatching(/^device=/),
    expect.stringMatching(/^login-address=grace\.hopper%2B1%40example\.com; HttpOnly; Max-Age=600; /),
  ]);
  expect((await visitor.get("/login?notice=password_reset")).body).toContain("Your new password is saved.");
  const { cookie: forgotten } = elsewhere;
  expect((await elsewhere.get("/dashboard")).location).toBe("/login");
  await latchkey.mailTo(email, "Your password was changed");

  expect((await visitor.logIn(email)).status).toBe(422);
  expect(await visitor.logIn(email, newPassword)).toMatchObject({ status: 302, location: "/dashboard" });
  expect((await visitor.get("/dashboard")).status).toBe(200);

  const mails = latchkey.output().length;
  await visitor.askForReset(email);
  await latchkey.waitFor(/(?:Subject: Reset your password[\s\S]*){2}--- end mail ---[\s\S]*password_reset\.sent/);
  const [, active = ""] = /token=([0-9a-f]{64})/.exec(latchkey.output().slice(mails)) ?? [];
  expect(await latchkey.stop()).toBe(0);

  const output = latchkey.output();
  const log = output.replaceAll(/--- mail ---\n[\s\S]*?\n--- end mail ---\n/g, "");
  const rows = await dump(latchkey.databaseUrl());
  expect(rows).toContain(email);
  expect(rows).toContain(sha256(active));
  expect(log).toContain("GET /nowhere/[token] 404");
  expect(output).not.toContain(accessToken);
  const cookies = [registered, forgotten, visitor.cookie].flatMap((cookie) => cookie.match(/[0-9a-f]{64}/g) ?? []);
  expect(cookies).toHaveLength(6);
  const secrets = [
    registration.token ?? "",
    reset.token ?? "",
    active,
    accessToken,
    accessToken.slice(9),
    ...cookies,
    goodPassword,
    newPassword,
  ];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThanOrEqual(20);
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
