import { type Counters, takeBackCount } from "../../accounts/limits/rate-limits";
import { parseSignIn, verifySignIn } from "../../accounts/passkeys/passkey-answers";
import { consumeChallenge } from "../../accounts/passkeys/passkey-challenges";
import { type Browser, type DeviceSignIn, logEndedSessions } from "../../accounts/sessions/sessions";
import { lockUser } from "../../accounts/users/users";
import { Passkey } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { PasskeyFailure } from "../../events";
import { logEvent } from "../../log";
import { type LoginOrigin, startKnownSession } from "./login.server";

interface Answer {
  /** An authenticator's answer, as JSON. */
  text: string;
  /** The token of the browser that the challenge was issued to; `null` for none. */
  browser: string | null;
}

/** Verifies the answer, and starts a session of the passkey's user in one transaction. */
async function verifyAnswer(
  { text, browser: token }: Answer,
  browser: Browser,
  origin: LoginOrigin,
): Promise<DeviceSignIn | { reason: PasskeyFailure; userId?: string }> {
  const parsed = parseSignIn(text);
  if (!parsed) return { reason: "malformed" };
  const isOwn = token !== null && (await consumeChallenge({ browser: token, purpose: "sign-in" }, parsed.challenge));
  if (!isOwn) return { reason: "challenge" };
  const credentialId = parsed.answer.id;
  const passkey = await query((em) => em.findOne(Passkey, { credentialId }));
  if (!passkey) return { reason: "unknown" };
  const verified = await verifySignIn(parsed, passkey);
  if (!verified) return { reason: "not_verified" };

  const { counter, backedUp } = verified;
  const userId = passkey.user.id;
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId, suspendedAt: null });
    if (!user) return { reason: "suspended" };
    const current = await em.findOne(Passkey, { credentialId, user: userId });
    if (!current) return { reason: "unknown" };
    // WebAuthn, section 6.1.1: an authenticator that was copied. One that does not count answers with 0.
    if ((counter > 0 || current.counter > 0) && counter <= current.counter) return { reason: "counter", userId };
    Object.assign(current, { counter, backedUp, lastUsedAt: new Date() });
    return startKnownSession(em, user, browser, origin, "passkey");
  });
}

/** The session of the passkey's owner; `null`, and one answer for every reason, when the answer is refused. */
export async function signInWithPasskey(
  answer: Answer,
  counters: Counters,
  browser: Browser,
  origin: LoginOrigin,
): Promise<DeviceSignIn | null> {
  const done = await verifyAnswer(answer, browser, origin);
  if ("reason" in done) {
    logEvent({ event: "passkey.failed", ...done });
    return null;
  }
  await takeBackCount(counters);
  logEndedSessions(done.session);
  logEvent({ event: "passkey.succeeded", userId: done.session.userId });
  return done;
}
