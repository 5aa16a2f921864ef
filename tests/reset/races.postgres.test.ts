import { randomInt } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { issueLink, newLink } from "#server/accounts/links/mailed-links";
import { EmailChange, PasswordReset, Registration } from "#server/database/entities";
import { ExternalSignInError } from "#server/errors";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { changeEmail } from "#server/features/owner/email-change";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { authenticate, startVerifiedSession } from "#server/features/visitor/login";
import { storeWayIn } from "#server/features/visitor/password-reset";
import { registerUser } from "#server/features/visitor/registration";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";

const latchkey = startLatchkey({ IDP_CLIENT_ID: "the-client", IDP_CLIENT_SECRET: "the-secret" });
const seeds = Array.from({ length: 10 }, () => randomInt(2 ** 31));

// Both addresses are registered, reset, signed in to and deleted at the same time.
test.each(seeds)("two users change to each other's address without a deadlock (seed %i)", async (seed) => {
  const addresses = ["ada@example.com", "bob@example.com", "third@example.com"];
  const one = await latchkey.createUser({ email: addresses[0]! });
  const two = await latchkey.createUser({ email: addresses[1]! });
  const changes: (() => Promise<unknown>)[] = [];
  for (const user of [one, two]) {
    for (const address of addresses) {
      const { token, row } = newLink(address);
      await latchkey.em().insert(EmailChange, { ...row, user });
      changes.push(() => changeEmail(unknownVisitor, { email: address, token }));
    }
  }
  for (const address of addresses) {
    const login = await authenticate(unknownVisitor, { email: address, password: goodPassword });
    const reset = await issueLink(latchkey.em(), PasswordReset, address);
    const registration = await issueLink(latchkey.em(), Registration, address);
    const verified = { id: address, email: address, emailVerified: true, name: null, pictureUrl: null };
    changes.push(
      () => storeWayIn(unknownVisitor, { email: address, token: reset }, { passwordHash: "a hash" }),
      () => registerUser(unknownVisitor, { email: address, token: registration }, { passwordHash: "a hash" }),
      () => signInToAccount(unknownVisitor, verified),
      async () => login && startVerifiedSession(unknownVisitor, login),
    );
  }
  changes.push(() => deleteAccount({ user: { id: two }, sessionId: null }, addresses[1]!, addresses[1]!));
  const orders = fc.shuffledSubarray(changes, { minLength: changes.length });
  const [order = []] = fc.sample(orders, { seed, numRuns: 1 });
  const outcomes = await Promise.allSettled(order.map((change) => change()));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  // An external sign-in may find that its address moved to an account with another id.
  expect(failures.filter((failure) => !(failure instanceof ExternalSignInError))).toEqual([]);
  const emails = await latchkey.execute<{ email: string }>("select email from users");
  expect(new Set(emails.map(({ email: address }) => address)).size).toBe(emails.length);
});
