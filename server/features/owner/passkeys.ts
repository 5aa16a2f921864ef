import { rpId, userHandle } from "../../accounts/passkeys/ceremonies";
import { acceptPasskey, insertPasskey, refusedIfPasskey, startCreation } from "../../accounts/passkeys/creation";
import { type Actor, endOtherAccess, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { parseName } from "../../accounts/users/users";
import { questionsFor, waysIn } from "../../accounts/users/ways-in";
import { Passkey, Session } from "../../database/entities";
import { afterCommit, query, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { mostPasskeys } from "../../rules";
import type { Owner } from "./signed-in";

/** `add`: the owner adds it. `upgrade`: the browser adds it without a click (WebAuthn Level 3, section 5.1.3). */
type Adding = "add" | "upgrade";

const purposeOf = ({ sessionId }: Owner, by: Adding) => `${by}:${sessionId}` as const;

export const passkeysOf = (userId: string): Promise<Passkey[]> =>
  query((em) => em.find(Passkey, { user: userId }, { orderBy: { createdAt: "asc" } }));

/** What the browser creates the passkey from. `null` for an upgrade of an account that has one. */
export async function startAddingPasskey(owner: Owner, by: Adding) {
  const passkeys = await passkeysOf(owner.user.id);
  if (by === "upgrade" && passkeys.length > 0) return null;
  return startCreation(owner, purposeOf(owner, by), { ...owner.user, passkeys });
}

/** The account as the WebAuthn Signal API names it to the browser's password manager. */
export const signalledAccount = (userId: string) => ({
  rpId: rpId(),
  userId: Buffer.from(userHandle(userId)).toString("base64url"),
});

/**
 * @param text an authenticator's answer, as JSON
 * @param typedName the passkey's name; if it is not valid, the browser's name
 */
export async function addPasskey(owner: Owner, by: Adding, { text, typedName }: Record<"text" | "typedName", string>) {
  const passkey = await acceptPasskey(owner, purposeOf(owner, by), text, parseName(typedName));
  if (passkey === "refused") return passkey;
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    const session = await em.findOneOrFail(Session, { id: owner.sessionId });
    const { inherited: questionedAt } = await questionsFor(em, user, session); // a thief's passkey is no answer
    await insertPasskey(em, user.id, { ...passkey, questionedAt }, by === "upgrade" ? 1 : mostPasskeys);
    await tell(em, "passkey_added", user, { by: owner });
    return "added";
  }).catch(refusedIfPasskey);
}

/** Removes a passkey, and ends every session but the actor's: somebody may have started one with the passkey. */
export const removePasskey = (owner: Actor, credentialId: string) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    const passkeys = await em.find(Passkey, { user: user.id });
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    if (!passkey) return "no_such_passkey";
    const { password, provider } = await waysIn(em, user);
    if (!password && !provider && passkeys.length === 1) return "only_way_in";
    em.remove(passkey);
    await tell(em, "passkey_removed", user, { by: owner });
    const began = passkey.questionedAt ? { credentialId } : null;
    return endOtherAccess(em, owner, "passkey_removed", began);
  });

/**
 * Answers that a way to sign in, which a reset has questioned, is the owner's: a passkey, or the provider (`null`). The
 * session must have begun after the question and by a way that is not in question: a thief would answer, too.
 */
export const keepWayIn = (owner: Actor, credentialId: string | null) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) return "session_ended";
    const { passkeys, ofWay } = await questionsFor(em, user, session);
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    const questionedAt = credentialId === null ? user.idpQuestionedAt : passkey?.questionedAt;
    if (!questionedAt || ofWay || session.createdAt <= questionedAt) return "refused";
    if (passkey) passkey.questionedAt = null;
    else user.idpQuestionedAt = null;
    afterCommit(em, () => logEvent({ event: passkey ? "passkey.kept" : "idp.kept", userId: user.id }));
    return "kept";
  });
