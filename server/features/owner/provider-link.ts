import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { groupsOf } from "../../accounts/groups/membership";
import { identityOf, isLinked, isTaken, link } from "../../accounts/provider/provider-identities";
import { type Actor, endOtherAccess, lockOwner } from "../../accounts/sessions/sessions";
import { tell, tellGroups } from "../../accounts/users/changes";
import { questionsFor, waysIn } from "../../accounts/users/ways-in";
import { config } from "../../config";
import { Session } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { ExternalSignInError } from "../../errors";
import type { Profile } from "../../provider/providers";

/** The profile may have any address. @throws ExternalSignInError, and nothing changed, when it cannot be linked */
export async function linkProvider(owner: Actor, profile: Profile): Promise<void> {
  const identity = identityOf(profile);
  await unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) throw new ExternalSignInError("another_session");
    if (isLinked(user)) throw new ExternalSignInError("already_connected");
    if (await isTaken(em, identity)) throw new ExternalSignInError("id_of_another_account");
    const { inherited } = await questionsFor(em, user, session);
    const groups = groupsOf(user);
    link(user, identity, profile);
    user.idpQuestionedAt = inherited;
    await tell(em, "idp.linked", user, { by: owner });
    await tellGroups(em, user, groups, owner);
  }).catch((error: unknown) => {
    if (error instanceof UniqueConstraintViolationException) throw new ExternalSignInError("id_of_another_account");
    throw error;
  });
}

/**
 * Removes the provider's id from the account. Ends every email change and every session but the actor's: they may stem
 * from a sign-in with the provider. Blocks linking by address, which would undo the owner's decision.
 * With `PASSWORDS=off`, only an operator may do it: the provider's logout of a leaver must reach every account.
 */
export const unlinkProvider = (actor: Actor) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return "session_ended";
    if (!config().passwords.on && actor.sessionId !== null) return "accounts_come_from_it";
    const { password, passkeys } = await waysIn(em, user);
    if ((!password && passkeys === 0) || user.idpId === null) return "only_way_in";
    const groups = groupsOf(user);
    user.idpId = null;
    user.idpGroups = [];
    user.idpIssuer = null;
    user.idpBlockedAt = new Date();
    const began = user.idpQuestionedAt ? { way: "provider" as const } : null;
    user.idpQuestionedAt = null;
    await tell(em, "idp.unlinked", user, { by: actor });
    await tellGroups(em, user, groups, actor);
    return endOtherAccess(em, actor, "unlinked", began);
  });
