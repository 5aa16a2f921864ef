import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { send } from "../support/http";
import { startServer } from "../support/server";
import { login, startSmtpServer } from "../support/smtp-service";
import { createDatabase } from "../support/template-copy";
import { until } from "../support/until";

/** The production build with a mail server that answers no mail to held@example.com. */
async function startWithSmtp() {
  const authority = createAuthority();
  const folder = await mkdtemp(join(tmpdir(), "latchkey-smtp-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  let isHeld = false;
  const smtp = await startSmtpServer({
    secure: true,
    ...authority.sign("DNS:localhost"),
    onRcptTo({ address }, _session, accept) {
      isHeld = address === "held@example.com";
      if (!isHeld) accept();
    },
  });
  const database = await createDatabase();
  onTestFinished(database.drop);
  const latchkey = await startServer({
    DATABASE_URL: database.url,
    APP_URL: "https://latchkey.example",
    MAIL_DRIVER: "smtp",
    MAIL_FROM: "mail@latchkey.example",
    SMTP_URL: `smtps://${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@localhost:${smtp.port}`,
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  });
  onTestFinished(latchkey.kill);
  const register = async (email: string) =>
    expect((await send(latchkey.url, "/register", { form: { email } })).status).toBe(200);
  return { latchkey, smtp, register, untilHeld: () => until(() => isHeld, "the mail is being sent") };
}

test("the production build sends mail over TLS with a login", async () => {
  const { latchkey, smtp, register } = await startWithSmtp();
  expect(smtp.connections()).toBe(0);
  await register("ada@example.com");
  await latchkey.waitFor(/registration\.sent/);
  const headers = { "auto-submitted": "auto-generated" };
  expect(smtp.mails).toMatchObject([{ to: ["ada@example.com"], secure: true, user: login.user, headers }]);
  expect(smtp.mails[0]?.text).toMatch(/https:\/\/latchkey\.example\/register\/complete\?email=\S+&token=[0-9a-f]{64}/);
});

test("a mail that is not answered at SIGTERM is queued for a retry", async () => {
  const { latchkey, register, untilHeld } = await startWithSmtp();
  await register("held@example.com");
  await untilHeld();
  const start = performance.now();
  expect(await latchkey.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  const { orm, close } = await openDatabase(latchkey.databaseUrl);
  const jobs = await orm.em.fork().execute("select state::text from pgboss.job where data ->> 'email' is not null");
  await close();
  expect(jobs).toEqual([{ state: "retry" }]);
});
