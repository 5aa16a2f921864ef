import { expect, test } from "vitest";
import { authenticate, logIn } from "#server/accounts.server";
import { PasswordReset } from "#server/entities";
import { signInWithProfile } from "#server/external-sign-in.server";
import { resetPassword } from "#server/password-reset.server";
import { startSession } from "#server/sessions";
import { endOtherSessions } from "#server/sessions.server";
import { issueToken } from "#server/tokens";
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
  const byProvider = (sessionToken: string) => signInWithProfile(profile, { userAgent: null, sessionToken });
  const working = work().finally(() => {
    done = true;
  });
  await Promise.all([lane(byPassword), lane(byPassword), lane(byProvider), lane(byProvider), working]);
}

test("a reset amid sign-ins of the same user: no deadlock, and no session by the old password is left", async () => {
  const userId = await createUser(latchkey.em(), { email, idpId: "ada" });
  await whileSigningIn(userId, async () => {
    for (let at = 0; at < 10; at++) {
      const token = await issueToken(latchkey.em(), PasswordReset, email);
      expect(await resetPassword({ email, token }, newPassword)).toBe(true);
      await endOtherSessions(userId, crypto.randomUUID());
    }
  });
  expect(await authenticate(email, goodPassword)).toBeNull();
  expect(await authenticate(email, newPassword)).not.toBeNull();
});
