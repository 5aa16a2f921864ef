import { userHandle } from "../../accounts/passkeys/ceremonies";
import { acceptPasskey, insertPasskey, refusedIfPasskey, startCreation } from "../../accounts/passkeys/creation";
import { isUsable, rpId, usable } from "../../accounts/passkeys/relying-party";
import { isLinked } from "../../accounts/provider/provider-identities";
import { type Actor, endOtherAccess, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { questionsFor, waysIn } from "../../accounts/users/ways-in";
import { Passkey, Session } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import { maxPasskeys, parseName } from "../../rules";
import type { Owner } from "./signed-in";

/** `add`: the owner adds it. `upgrade`: the browser adds it without a click (WebAuthn Level 3, section 5.1.3). */
type Adding = "add" | "upgrade";

/** What the browser creates the passkey from. `null` for an upgrade of an account that has one. */
export async function startAddingPasskey(owner: Owner, by: Adding) {
  const { usable: passkeys } = await passkeysByUse(owner.user.id);
  if (by === "upgrade" && passkeys.length > 0) return null;
  return startCreation(owner, purposeOf(owner, by), { ...owner.user, passkeys });
}

/** The passkeys that sign in here, and those that were made for another name. */
export async function passkeysByUse(userId: string) {
  const passkeys = await passkeysOf(userId);
  return { usable: passkeys.filter(isUsable), unusable: passkeys.filter((passkey) => !isUsable(passkey)) };
}

export const passkeysOf = (userId: string): Promise<Passkey[]> =>
  query((em) => em.find(Passkey, { user: userId }, { orderBy: { createdAt: "asc" } }));

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
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) return "session_ended";
    const { inherited: questionedAt } = await questionsFor(em, user, session); // else a thief's new passkey could answer the question
    await insertPasskey(em, user.id, { ...passkey, questionedAt }, by === "upgrade" ? 1 : maxPasskeys);
    await tell(em, "passkey.added", user, { by: owner, passkey: passkey.name });
    return "added";
  }).catch(refusedIfPasskey);
}

const purposeOf = ({ sessionId }: Owner, by: Adding) => `${by}:${sessionId}` as const;

/** Removes a passkey, and ends every session but the actor's: somebody may have started one with the passkey. */
export const removePasskey = (owner: Actor, credentialId: string) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    const passkeys = await em.find(Passkey, { user: user.id });
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    if (!passkey) return "no_such_passkey";
    const { password, provider } = await waysIn(em, user);
    const isLast = isUsable(passkey) && passkeys.filter(isUsable).length === 1;
    if (isLast && !password && !provider) return "only_way_in";
    em.remove(passkey);
    const { name } = passkey;
    await tell(em, "passkey.removed", user, { by: owner, passkey: name });
    const began = passkey.questionedAt ? { credentialId } : null;
    return { name, ...(await endOtherAccess(em, owner, "passkey_removed", began)) };
  });

/**
 * Answers that a way to sign in that is in question is the owner's: a passkey, or the provider (`null`). The
 * session must have begun after the question and by a way that is not in question: a thief would answer, too.
 * A way that is not in question stays: another window may have answered.
 */
export const keepWayIn = (owner: Actor, credentialId: string | null) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) return "session_ended";
    const { passkeys, ofWay } = await questionsFor(em, user, session);
    const passkey = passkeys.find((one) => one.credentialId === credentialId);
    const questionedAt = credentialId === null ? user.idpQuestionedAt : passkey?.questionedAt;
    if (!questionedAt) {
      if (credentialId === null) return isLinked(user) ? "kept" : "refused";
      const all = await em.find(Passkey, { user: user.id, ...usable() }); // the text may be one that PostgreSQL refuses
      return all.some((one) => one.credentialId === credentialId) ? "kept" : "no_such_passkey";
    }
    if (ofWay || session.createdAt <= questionedAt) return "refused";
    if (passkey) passkey.questionedAt = null;
    else user.idpQuestionedAt = null;
    await tell(em, passkey ? "passkey.kept" : "idp.kept", user, { by: owner });
    return "kept";
  });
