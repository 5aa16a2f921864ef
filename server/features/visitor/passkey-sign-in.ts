import { countLogin } from "../../accounts/limits/rate-limits";
import {
  consumeSignIn,
  issueChallenge,
  type SignInAnswer,
  verifySignIn,
  webAuthn,
} from "../../accounts/passkeys/ceremonies";
import { rpId, usable } from "../../accounts/passkeys/relying-party";
import { type DeviceSignIn, startKnownSession } from "../../accounts/sessions/sessions";
import { record } from "../../accounts/users/history";
import { lockUser } from "../../accounts/users/users";
import { config } from "../../config";
import { Passkey } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { PasskeyFailure } from "../../events/events";
import { logEvent } from "../../log";
import { PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import type { Visitor } from "../../visitor/visitor";

/** Whether pages of this origin can use passkeys: browsers bind them to the host of `APP_URL`. */
export const offersPasskeys = (origin: string): boolean =>
  config().relyingPartyId !== null && config().appUrl === origin;

/** The `options` of the browser's `navigator.credentials.get`; `wait` seconds after too many challenges. */
export async function startPasskeySignIn(visitor: Visitor) {
  const issued = await issueChallenge(visitor, "sign-in");
  if ("wait" in issued) return issued;
  const { challenge, ceremonyToken } = issued;
  const { generateAuthenticationOptions } = await webAuthn();
  const rule = { rpID: rpId(), timeout: PASSKEY_CHALLENGE_TTL_MS, userVerification: "required" } as const;
  return { options: await generateAuthenticationOptions({ ...rule, challenge }), ceremonyToken };
}

/**
 * Starts a session of the passkey's owner; `null` when the answer is refused, for any reason; `wait` seconds after too
 * many. An answer without a valid challenge is not counted: it costs nothing to send, and one client could lock out all
 * others in its network. @param text an authenticator's answer, as JSON
 */
export async function signInWithPasskey(visitor: Visitor, text: string) {
  const answered = await consumeSignIn(visitor, text);
  if ("reason" in answered) return refuseSignIn(visitor, answered);
  return countLogin(visitor, null, async () => {
    const done = await startPasskeySession(visitor, answered);
    if ("reason" in done) return refuseSignIn(visitor, done);
    logEvent({ event: "passkey.succeeded", userId: done.session.userId });
    return done;
  });
}

interface Failure {
  reason: PasskeyFailure;
  /** Only the owner's authenticator, or a copy of it, fails so. */
  userId?: string;
}

async function refuseSignIn(visitor: Visitor, failure: Failure): Promise<null> {
  const { userId, reason } = failure;
  logEvent({ event: "passkey.failed", ...failure });
  if (userId !== undefined) {
    const refused = { type: "passkey.failed", way: "passkey", detail: reason } as const;
    await unitOfWork(async (em) => {
      if (await lockUser(em, { id: userId })) await record(em, [userId], { userAgent: visitor.userAgent }, refused);
    });
  }
  return null;
}

/** Verifies the answer, and starts a session of the passkey's user in one transaction. */
async function startPasskeySession(visitor: Visitor, answered: SignInAnswer): Promise<DeviceSignIn | Failure> {
  const credentialId = answered.answer.id;
  const passkey = await query((em) => em.findOne(Passkey, { credentialId, ...usable() }));
  if (!passkey) return { reason: "unknown" };
  const verified = await verifySignIn(answered, passkey);
  if (!verified) return { reason: "not_verified" };

  const { counter, backedUp } = verified;
  const userId = passkey.user.id;
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId, suspendedAt: null });
    if (!user) return { reason: "suspended" };
    const current = await em.findOne(Passkey, { credentialId, user: userId });
    if (!current) return { reason: "unknown" };
    // WebAuthn, section 6.1.1: the authenticator may have been copied. One without a counter sends 0.
    if ((counter > 0 || current.counter > 0) && counter <= current.counter) return { reason: "counter", userId };
    Object.assign(current, { counter, backedUp, lastUsedAt: new Date() });
    return startKnownSession(em, user, { visitor, way: "passkey", credentialId });
  });
}
