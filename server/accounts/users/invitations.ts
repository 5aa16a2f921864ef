import type { EntityManager } from "@mikro-orm/postgresql";
import { Invitation, type User } from "../../database/entities";
import { afterCommit } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { groupsOf } from "../groups/membership";
import { maxGroups, sortedGroups } from "../groups/names";
import { tellGroups } from "./changes";

/** Removes the invitation without its groups. The caller holds `lockAddresses`. @returns whether one was live */
export async function removeInvitation(em: EntityManager, email: string): Promise<boolean> {
  if (!(await findInvitation(em, email))) return false;
  await em.nativeDelete(Invitation, { email });
  afterCommit(em, () => logEvent({ event: "invitation.removed" }));
  return true;
}

/**
 * Gives a user who has proven an address the groups of its invitation. The caller holds `lockAddresses` and the user's
 * row.
 */
export async function acceptInvitation(em: EntityManager, user: User): Promise<void> {
  const invitation = await findInvitation(em, user.email);
  if (!invitation) return;
  await em.nativeDelete(Invitation, { email: user.email });
  const before = groupsOf(user);
  const own = user.groups;
  const added = invitation.groups.filter((name) => !own.includes(name)).slice(0, maxGroups - own.length);
  user.groups = sortedGroups([...own, ...added]);
  await tellGroups(em, user, before);
  afterCommit(em, () => logEvent({ event: "invitation.accepted", userId: user.id }));
}

/** The live invitation of an address. Reads only. */
export const findInvitation = (em: EntityManager, email: string): Promise<Invitation | null> =>
  em.findOne(Invitation, { email, expiresAt: { $gt: new Date() } }, { disableIdentityMap: true });
