import { expect, test, vi } from "vitest";
import { issueLink } from "#server/accounts/mailed-links";
import { PasswordReset, User } from "#server/database/entities";
import { signInToAccount } from "#server/features/external-sign-in.server";
import { authenticate, logIn } from "#server/features/login.server";
import { resetPassword } from "#server/features/password-reset.server";
import { JobQueue } from "#server/queue/job-queue";
import { createUser, goodPassword } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

// Each test needs a second connection during a transaction. The embedded database has only one connection.

const latchkey = startLatchkey({ IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "secret" });
const email = "ada@example.com";
const browser = { userAgent: null, sessionToken: null };

/** Resolves when one statement of this database waits for a lock that another transaction holds. */
function statementIsBlocked(): Promise<void> {
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return until(async () => (await latchkey.execute(waiting)).length === 1, "a statement waits for the lock");
}

test("a login during an uncommitted reset waits for the commit and starts no session", async () => {
  await createUser(latchkey.em());
  const token = await issueLink(latchkey.em(), PasswordReset, email);
  const verified = await authenticate(email, goodPassword);
  if (!verified) throw new Error("The password is right.");

  const { enqueue } = JobQueue.prototype;
  let finished: Promise<unknown> | undefined;
  vi.spyOn(JobQueue.prototype, "enqueue").mockImplementation(async function (this: JobQueue, em, job) {
    await enqueue.call(this, em, job); // The sessions are deleted, and the transaction is not committed.
    finished = logIn(verified, [], browser, null, "en");
    await statementIsBlocked();
  });
  expect(await resetPassword({ email, token }, "a brand new password", "en")).not.toBeNull();
  expect(finished).toBeDefined();
  expect(await finished).toBeNull();
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});

test("an external sign-in during an uncommitted disconnect waits for the commit and starts no session", async () => {
  const id = await createUser(latchkey.em(), { email, idpId: "ada" });
  const profile = { id: "ada", email: null, emailVerified: false, name: null, pictureUrl: null };
  const { outcome } = await latchkey.em().transactional(async (em) => {
    await em.nativeUpdate(User, { id }, { idpId: null });
    const outcome = signInToAccount(profile, browser, "en").catch(({ reason }) => reason);
    await statementIsBlocked();
    return { outcome }; // The promise is wrapped, or it would be awaited before the commit.
  });
  expect(await outcome).toBe("no_verified_email");
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});
