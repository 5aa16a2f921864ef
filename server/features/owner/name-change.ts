import { type Actor, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { unitOfWork } from "../../database/unit-of-work";
import { parseName } from "../../rules";

/** Gives the account the name; an empty one takes its name away. Tells nobody if it is the same. */
export async function changeName(actor: Actor, typedName: string) {
  const name = parseName(typedName);
  if (name === null && typedName.trim() !== "") return "wrong_name";
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return "session_ended";
    if ((user.name ?? null) === name) return "changed";
    user.name = name;
    await tell(em, "name.changed", user, { by: actor });
    return "changed";
  });
}
