import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { send } from "../support/http";
import { startServer } from "../support/server";
import { login, startScriptedServer, startSmtpServer } from "../support/smtp-service";
import { createDatabase } from "../support/template-copy";
import { until } from "../support/until";

const email = "ada@example.com";

async function startLatchkey(settings: Record<string, string>) {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const mail = { APP_URL: "https://latchkey.example", MAIL_DRIVER: "smtp", MAIL_FROM: "mail@latchkey.example" };
  const server = await startServer({ DATABASE_URL: database.url, ...mail, ...settings });
  onTestFinished(server.kill);
  return server;
}

test("the production build sends mail over TLS with a login, and connects only when a mail is sent", async () => {
  const authority = createAuthority();
  const folder = await mkdtemp(join(tmpdir(), "latchkey-smtp-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  const smtp = await startSmtpServer({ secure: true, ...authority.sign("DNS:localhost") });
  const credentials = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}`;
  const latchkey = await startLatchkey({
    SMTP_URL: `smtps://${credentials}@localhost:${smtp.port}`,
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  });
  expect(smtp.connections()).toBe(0);
  expect((await send(latchkey.url, "/register", { form: { email } })).status).toBe(200);
  await latchkey.waitFor(/registration\.sent/);
  expect(smtp.mails).toMatchObject([
    { to: [email], secure: true, user: login.user, headers: { "auto-submitted": "auto-generated" } },
  ]);
  expect(smtp.mails[0]?.text).toMatch(/https:\/\/latchkey\.example\/register\/complete\?email=\S+&token=[0-9a-f]{64}/);
  expect(await latchkey.stop()).toBe(0);
});

test("SIGTERM while the SMTP server does not answer: exit 0 within ten seconds, and the job is queued for a retry", async () => {
  let connected = false;
  const smtp = await startScriptedServer(() => {
    connected = true;
  });
  const latchkey = await startLatchkey({ SMTP_URL: `smtp://127.0.0.1:${smtp.port}` });
  await send(latchkey.url, "/register", { form: { email } });
  await until(() => connected, "the mail is being sent");
  const start = performance.now();
  expect(await latchkey.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  const { orm, close } = await openDatabase(latchkey.databaseUrl);
  const jobs = await orm.em.fork().execute("select state::text from pgboss.job where data ->> 'email' is not null");
  await close();
  expect(jobs).toEqual([{ state: "retry" }]);
});
