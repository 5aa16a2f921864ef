import { expect, test } from "vitest";
import * as forgotPassword from "~/routes/forgot-password";
import { createUser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordOutgoingCalls } from "../support/outgoing-calls";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey({
  APP_URL: "https://latchkey.example",
  MAIL_FROM: "mail@latchkey.example",
  MAIL_DRIVER: "resend",
  RESEND_API_KEY: "secret",
});
const outgoing = recordOutgoingCalls();

const email = "ada@example.com";
const day = 86_400; // s

test("a mail that fails is tried at least ten times over at least a day, with growing waits, then given up", async () => {
  await createUser(latchkey.em(), { password: null });
  await call(forgotPassword.action, post("/forgot-password", { email }));

  const waits: number[] = [];
  for (;;) {
    outgoing.answer("POST", "https://api.resend.com/emails", { broken: true });
    await latchkey.drain();
    const [job] = await latchkey.execute<{ state: string; wait: number }>(
      "select state::text, extract(epoch from start_after - now())::float as wait from pgboss.job where data->>'email' = ?",
      [email],
    );
    if (job?.state === "failed") break;
    expect(job).toEqual({ state: "retry", wait: expect.any(Number) });
    waits.push(job?.wait ?? 0);
    await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where state = 'retry'");
  }
  const tries = outgoing.calls().length;
  expect(tries).toBe(waits.length + 1);
  expect(tries).toBeGreaterThanOrEqual(10);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits[0]).toBeGreaterThan(0);
  expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThanOrEqual(day);
  expect(latchkey.mails()).toEqual([]);
});
