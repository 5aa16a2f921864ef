import { tell } from "../../accounts/users/changes";
import { mostGroups, sortedGroups } from "../../accounts/users/groups";
import { lockUser } from "../../accounts/users/users";
import { unitOfWork } from "../../database/unit-of-work";

/** @returns the user's groups now; `too_many`, and nothing changed, for more than 32; `null` without a user */
export async function changeGroups(
  userId: string,
  { add, remove }: Record<"add" | "remove", string[]>,
): Promise<string[] | "too_many" | null> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user) return null;
    const groups = sortedGroups([...user.groups, ...add]).filter((name) => !remove.includes(name));
    if (groups.length > mostGroups) return "too_many";
    const isNew = groups.join() !== user.groups.join();
    user.groups = groups;
    if (isNew) await tell(em, "groups_changed", user);
    return groups;
  });
}
