import { groupsOf, providerGroupsOf } from "../../accounts/provider/provider-identities";
import { tellGroups } from "../../accounts/users/changes";
import { mostGroups, sortedGroups } from "../../accounts/users/groups";
import { lockUser } from "../../accounts/users/users";
import { unitOfWork } from "../../database/unit-of-work";

/** Changes the operator's. @returns all groups of the user now; `null` without a user; else why nothing changed */
export async function changeGroups(
  userId: string,
  { add, remove }: Record<"add" | "remove", string[]>,
): Promise<string[] | "too_many" | "of_provider" | null> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user) return null;
    const before = groupsOf(user);
    const ofProvider = providerGroupsOf(user).filter((name) => !user.groups.includes(name));
    if (remove.some((name) => ofProvider.includes(name))) return "of_provider";
    const groups = sortedGroups([...user.groups, ...add]).filter((name) => !remove.includes(name));
    if (groups.length > mostGroups) return "too_many";
    user.groups = groups;
    await tellGroups(em, user, before);
    return groupsOf(user);
  });
}
