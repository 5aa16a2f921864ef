import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import {
  algorithms,
  consumeNewPasskey,
  issueChallenge,
  relyingPartyId,
  userHandle,
  verifyNewPasskey,
  webAuthn,
} from "../../accounts/passkeys/ceremonies";
import { waysIn } from "../../accounts/passkeys/passkeys";
import { browserName } from "../../accounts/sessions/devices";
import { type Actor, type EndedOthers, endSessionsExcept, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { parseName } from "../../accounts/users/users";
import { config } from "../../config";
import { Passkey } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { PasskeyFailure } from "../../events";
import { logEvent } from "../../log";
import { PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import type { Owner } from "./sessions";

export const mostPasskeys = 20; // of a user

/** Whether pages of this origin can use passkeys: browsers bind them to the host of `APP_URL`. */
export const hasPasskeys = (origin: string): boolean => config().relyingPartyId !== null && config().appUrl === origin;

/** `add`: the owner adds it. `upgrade`: the browser adds it without a click (WebAuthn Level 3, section 5.1.3). */
type Adding = "add" | "upgrade";

const purposeOf = ({ sessionId }: Owner, by: Adding) => `${by}:${sessionId}` as const;

/** Whether the account page asks if the passkey is the owner's. It asks for 30 days (`distrustEarlierUser`). */
export const isQuestioned = ({ questionedAt }: Passkey): boolean =>
  questionedAt != null && Date.now() - questionedAt.getTime() < 30 * 24 * 3_600_000;

export const passkeysOf = (userId: string): Promise<Passkey[]> =>
  query((em) => em.find(Passkey, { user: userId }, { orderBy: { createdAt: "asc" } }));

/**
 * The `options` of the browser's `navigator.credentials.create`. Each authenticator makes one passkey for an account.
 * `null` for an upgrade of an account that has one; `wait` seconds after too many challenges.
 */
export async function startAddingPasskey(owner: Owner, by: Adding) {
  const { email, name } = owner.user;
  const isUpgrade = by === "upgrade";
  const passkeys = await passkeysOf(owner.userId);
  if (isUpgrade && passkeys.length > 0) return null;
  const issued = await issueChallenge(owner, purposeOf(owner, by), owner.userId);
  if ("wait" in issued) return issued;
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    timeout: PASSKEY_CHALLENGE_TTL_MS,
    rpName: config().brand.name,
    rpID: relyingPartyId(),
    userID: userHandle(owner.userId),
    userName: email,
    userDisplayName: name ?? email,
    challenge: issued.challenge,
    supportedAlgorithmIDs: algorithms,
    // A browser that can verify nobody without a dialogue refuses a conditional creation with "required".
    authenticatorSelection: { residentKey: "required", userVerification: isUpgrade ? "preferred" : "required" },
    excludeCredentials: passkeys.map(({ credentialId: id }) => ({ id })),
  });
  return { options, ceremonyToken: issued.ceremonyToken };
}

/** The account as the WebAuthn Signal API names it to the browser's password manager. */
export const signalledAccount = (userId: string) => ({
  rpId: relyingPartyId(),
  userId: Buffer.from(userHandle(userId)).toString("base64url"),
});

function refuse(reason: PasskeyFailure): "refused" {
  logEvent({ event: "passkey.failed", reason });
  return "refused";
}

/**
 * @param text an authenticator's answer, as JSON
 * @param typedName the passkey's name; if it is not valid, the browser's name
 */
export async function addPasskey(
  owner: Owner,
  by: Adding,
  { text, typedName }: { text: string; typedName: string },
): Promise<"added" | "refused" | "too_many" | "session_ended"> {
  const answered = await consumeNewPasskey(owner, purposeOf(owner, by), text);
  if ("reason" in answered) return refuse(answered.reason);
  const verified = await verifyNewPasskey(answered, by === "upgrade");
  if (!verified) return refuse("not_verified");
  const { transports } = answered.answer.response;
  const name = parseName(typedName) ?? browserName(owner.userAgent, owner.language);
  const row = { ...verified, transports, name, createdAt: new Date() };
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    if ((await em.count(Passkey, { user: user.id })) >= (by === "upgrade" ? 1 : mostPasskeys)) return "too_many";
    await em.insert(Passkey, { ...row, user: user.id });
    await tell(em, "passkey_added", user, { language: owner.language });
    return "added";
  }).catch((error: unknown) => {
    if (error instanceof UniqueConstraintViolationException) return refuse("known");
    throw error;
  });
}

/** Removes a passkey, and ends every session but the actor's: somebody may have started one with the passkey. */
export async function removePasskey(
  owner: Actor,
  credentialId: string,
): Promise<EndedOthers | "no_such_passkey" | "only_way_in" | "session_ended"> {
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    const passkeys = await em.find(Passkey, { user: user.id });
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    if (!passkey) return "no_such_passkey";
    const { password, provider } = await waysIn(em, user);
    if (!password && !provider && passkeys.length === 1) return "only_way_in";
    em.remove(passkey);
    await tell(em, "passkey_removed", user, { language: owner.language });
    return endSessionsExcept(em, owner, "passkey_removed");
  });
}
