import { expect, test } from "vitest";
import { issueLink } from "#server/accounts/mailed-links";
import { startSession } from "#server/accounts/sessions";
import { PasswordReset, User } from "#server/database/entities";
import { signInToAccount } from "#server/features/external-sign-in.server";
import { authenticate, logIn } from "#server/features/login.server";
import { resetPassword } from "#server/features/password-reset.server";
import { endOtherSessions } from "#server/features/sessions.server";
import { createUser, goodPassword } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey();
const email = "ada@example.com";
const newPassword = "an entirely new password";

/** As many sign-ins as run while `work` does, each from a browser that has a session of its own already. */
async function whileSigningIn(userId: string, work: () => Promise<unknown>): Promise<void> {
  const verified = await authenticate(email, goodPassword);
  const profile = { id: "ada", email, emailVerified: true, name: null, pictureUrl: null };
  let done = false;
  const lane = async (enter: (sessionToken: string) => Promise<unknown>) => {
    while (!done) {
      const { token } = await startSession(latchkey.em(), userId, { userAgent: null, sessionToken: null });
      await enter(token);
    }
  };
  const byPassword = (sessionToken: string) =>
    verified ? logIn(verified, email, "10.0.0.1", { userAgent: null, sessionToken }) : Promise.resolve();
  const byProvider = (sessionToken: string) => signInToAccount(profile, { userAgent: null, sessionToken });
  const working = work().finally(() => {
    done = true;
  });
  await Promise.all([lane(byPassword), lane(byPassword), lane(byProvider), lane(byProvider), working]);
}

test("a reset amid sign-ins of the same user: no deadlock, and no session by the old password is left", async () => {
  const userId = await createUser(latchkey.em(), { email, idpId: "ada" });
  await whileSigningIn(userId, async () => {
    for (let at = 0; at < 10; at++) {
      const token = await issueLink(latchkey.em(), PasswordReset, email);
      expect(await resetPassword({ email, token }, newPassword)).toBe(true);
      await endOtherSessions(userId, crypto.randomUUID());
    }
  });
  expect(await authenticate(email, goodPassword)).toBeNull();
  expect(await authenticate(email, newPassword)).not.toBeNull();
});

test("a sign-in that meets the provider being disconnected does not outlive it", async () => {
  const userId = await createUser(latchkey.em(), { email, idpId: "ada" });
  const thief = { id: "ada", email: null, emailVerified: false, name: null, pictureUrl: null };
  const entering = await latchkey.em().transactional(async (em) => {
    await em.nativeUpdate(User, { id: userId }, { idpId: null });
    const sessionOf = signInToAccount(thief, { userAgent: null, sessionToken: null }).catch(({ reason }) => reason);
    for (let at = 0; at < 50; at++) await em.execute("select 1"); // time for it to get as far as it can
    return { sessionOf };
  });
  expect(await entering.sessionOf).toBe("no_verified_email");
  expect(await latchkey.execute("select id from sessions")).toEqual([]);
});
