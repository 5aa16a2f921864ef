import type { SMTPServerOptions } from "smtp-server";
import { expect, test } from "vitest";
import * as forgotPassword from "~/routes/forgot-password";
import { createUser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { call, post } from "../support/route-calls";
import { refuse, startSmtpServer } from "../support/smtp-service";

const latchkey = startLatchkey({ APP_URL: "https://latchkey.example", MAIL_FROM: "mail@latchkey.example" });
const log = recordLog();

const email = "ada@example.com";

/** Requests a reset link with an SMTP server on loopback, and runs the queue until the retry. */
async function requestThrough(options: SMTPServerOptions) {
  const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true, allowInsecureAuth: true, ...options });
  latchkey.configure({ MAIL_DRIVER: "smtp", SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  await createUser(latchkey.em(), { email, password: null });
  await call(forgotPassword.action, post("/forgot-password", { email }));
  await latchkey.drain();
  return server;
}

async function jobState(): Promise<string | null> {
  const ofEmail = "select state::text from pgboss.job where data->>'email' = ?";
  return (await latchkey.execute<{ state: string }>(ofEmail, [email]))[0]?.state ?? null;
}

const requested = { event: "password_reset.requested" };

test("a mail that fails for a time is sent by the retry with a new token; neither job nor log has a token or an answer", async () => {
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
  expect(await jobState()).toBe("retry");
  expect(log.events()).toEqual([requested]);
  const rows = JSON.stringify(await latchkey.execute("select * from pgboss.job where data->>'email' = ?", [email]));
  for (const text of [rows, log.lines().join()]) {
    expect(text).toContain("EMESSAGE 451");
    expect(text).not.toMatch(/refused for a reason|[0-9a-f]{64}/);
  }
  await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where state = 'retry'");
  await latchkey.drain();
  expect(seen).toEqual([expect.any(String), expect.any(String)]);
  expect(seen[0]).not.toBe(seen[1]);
  expect(await latchkey.execute("select from password_resets")).toHaveLength(2);
  expect(await jobState()).toBe(null);
  expect(log.events()).toEqual([requested, { event: "password_reset.sent" }]);
});
