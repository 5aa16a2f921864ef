import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { runLatchkey } from "../support/running-latchkey";
import { login, runSmtpServer } from "../support/smtp-service";
import { until } from "../support/until";

const authority = createAuthority();
const folder = await mkdtemp(join(tmpdir(), "latchkey-smtp-"));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, "ca.pem"), authority.ca);

let isHeld = false;

/** It answers no mail to held@example.com. */
const smtp = await runSmtpServer({
  secure: true,
  ...authority.sign("DNS:localhost"),
  onRcptTo({ address }, _session, accept) {
    isHeld = address === "held@example.com";
    if (!isHeld) accept();
  },
});

const latchkey = runLatchkey({
  APP_URL: "https://latchkey.example",
  MAIL_DRIVER: "smtp",
  MAIL_FROM: "mail@latchkey.example",
  SMTP_URL: `smtps://${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@localhost:${smtp.port}`,
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
});

const register = async (email: string) =>
  expect((await latchkey.send("/register", { form: { email } })).status).toBe(200);

test("the production build sends mail over TLS with a login", async () => {
  expect(smtp.connections()).toBe(0);
  await register("ada@example.com");
  await latchkey.waitFor(/registration\.sent/);
  const headers = { "auto-submitted": "auto-generated" };
  expect(smtp.mails).toMatchObject([{ to: ["ada@example.com"], secure: true, user: login.user, headers }]);
  expect(smtp.mails[0]?.text).toMatch(/https:\/\/latchkey\.example\/register\/complete\?email=\S+&token=[0-9a-f]{64}/);
});

test("a mail that is not answered at SIGTERM is queued for a retry", async () => {
  await register("held@example.com");
  await until(() => isHeld, "the mail is being sent");
  const start = performance.now();
  expect(await latchkey.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  const { orm, close } = await openDatabase(latchkey.databaseUrl());
  const jobs = await orm.em.fork().execute("select state::text from pgboss.job where data ->> 'email' is not null");
  await close();
  expect(jobs).toEqual([{ state: "retry" }]);
});
