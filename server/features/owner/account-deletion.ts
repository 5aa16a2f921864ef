import { endEveryLink, lockAddresses } from "../../accounts/links/mailed-links";
import { type Actor, endAllAccess, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { parseAddress } from "../../accounts/users/email-address";
import { unitOfWork } from "../../database/unit-of-work";
import { removeJobs } from "../../queue/given-up";

/** Removes the user, the sessions, the devices, and every mailed link and mail of the user and of the address. */
export async function deleteAccount(actor: Actor, email: string, typedEmail: string) {
  if (parseAddress(typedEmail) !== email) return "not_confirmed";
  const { id: userId } = actor.user;
  return unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const user = await lockOwner(em, actor);
    if (!user) return "session_ended";
    if (user.email !== email) return "not_confirmed";
    await endEveryLink(em, userId, email);
    await endAllAccess(em, userId, "account_deleted");
    await removeJobs(em, user);
    await tell(em, "account.deleted", user, { by: actor });
    em.remove(user);
    return "deleted";
  });
}
