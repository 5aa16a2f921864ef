import type { SMTPServerOptions } from "smtp-server";
import { describe, expect, test } from "vitest";
import * as forgotPassword from "~/routes/forgot-password";
import { createUser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { call, post } from "../support/route-calls";
import { login, refuse, startSmtpServer } from "../support/smtp-service";

const latchkey = startLatchkey({ APP_URL: "https://latchkey.example", MAIL_FROM: "mail@latchkey.example" });
const log = recordLog();

const email = "ada@example.com";

/** Requests a reset link with an SMTP server on loopback, and runs the queue until the retry. */
async function requestThrough(options: SMTPServerOptions, credentials = "") {
  const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true, allowInsecureAuth: true, ...options });
  latchkey.configure({ MAIL_DRIVER: "smtp", SMTP_URL: `smtp://${credentials}127.0.0.1:${server.port}` });
  await createUser(latchkey.em(), { email, password: null });
  await call(forgotPassword.action, post("/forgot-password", { email }));
  await latchkey.drain();
  return server;
}

async function jobState(): Promise<string | null> {
  const [job] = await latchkey.execute<{ state: string }>(
    "select state::text from pgboss.job where data->>'email' = ?",
    [email],
  );
  return job?.state ?? null;
}

async function retry(): Promise<void> {
  await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where state = 'retry'");
  await latchkey.drain();
}

const requested = { event: "password_reset.requested" };
const hashes = () => latchkey.execute<{ token_hash: string }>("select token_hash from password_resets");

describe("a temporary SMTP failure: the mail is sent by the retry with a new token", () => {
  test.each([451, 421, 450])("%i for the recipient", async (code) => {
    let open = false;
    const server = await requestThrough({
      onRcptTo: (_to, _session, callback) => callback(open ? null : refuse(code)),
    });
    expect(await jobState()).toBe("retry");
    expect(await hashes()).toHaveLength(1);
    open = true;
    await retry();
    expect(await jobState()).toBe(null);
    expect(server.mails).toMatchObject([{ to: [email] }]);
    expect(await hashes()).toHaveLength(2);
    expect(log.events()).toEqual([requested, { event: "password_reset.sent" }]);
  });

  test("451 for the message: the second mail has another token than the first", async () => {
    const seen: (string | undefined)[] = [];
    await requestThrough({
      onData(stream, _session, callback) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const text = Buffer.concat(chunks).toString().replace(/=\r\n/g, "").replace(/=3D/g, "=");
          seen.push(/token=([0-9a-f]{64})/.exec(text)?.[1]);
          callback(seen.length === 1 ? refuse(451) : null);
        });
      },
    });
    await retry();
    expect(seen).toEqual([expect.any(String), expect.any(String)]);
    expect(seen[0]).not.toBe(seen[1]);
    expect(await jobState()).toBe(null);
  });

  test("535 for the login", async () => {
    const server = await requestThrough({ authOptional: false }, `${encodeURIComponent(login.user)}:wrong@`);
    expect(await jobState()).toBe("retry");
    expect(server.mails).toEqual([]);
    expect(log.events()).toEqual([requested]);
    expect(log.lines().join()).toContain('"error":"SmtpError","code":"EAUTH 535"');
    expect(log.lines().join()).not.toContain("wrong");
  });
});

test("a mail whose recipient an SMTP server refuses is not retried, and the event has the reason", async () => {
  let tries = 0;
  const server = await requestThrough({
    onRcptTo(_to, _session, callback) {
      tries++;
      callback(refuse(550));
    },
  });
  expect(await jobState()).toBe("cancelled");
  await retry();
  expect(tries).toBe(1);
  expect(server.mails).toEqual([]);
  expect(log.events()).toEqual([requested, { event: "mail.failed", reason: "recipient_refused" }]);
  for (const text of [email, "refused for a reason"]) expect(log.lines().join()).not.toContain(text);
  const failed = log
    .lines()
    .map((line) => JSON.parse(line))
    .find(({ event }) => event === "mail.failed");
  expect(failed).toEqual({
    level: 30,
    time: expect.any(String),
    jobId: expect.any(String),
    event: "mail.failed",
    reason: "recipient_refused",
  });
});

test("a message that an SMTP server refuses is not retried", async () => {
  await requestThrough({
    onData: (stream, _session, callback) => void stream.resume().on("end", () => callback(refuse(554))),
  });
  expect(await jobState()).toBe("cancelled");
  expect(log.events()).toEqual([requested, { event: "mail.failed", reason: "message_refused" }]);
});

test("the job of a retried mail contains neither a token nor an answer of the server", async () => {
  await requestThrough({ onRcptTo: (_to, _session, callback) => callback(refuse(451)) });
  const rows = JSON.stringify(await latchkey.execute("select * from pgboss.job where data->>'email' = ?", [email]));
  expect(rows).not.toContain("refused for a reason");
  expect(rows).not.toMatch(/[0-9a-f]{64}/);
  expect(rows).toContain("EENVELOPE 451");
});
