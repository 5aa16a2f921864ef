import { areGroups, sortedGroups } from "../../accounts/groups/names";
import { lockAddresses } from "../../accounts/links/mailed-links";
import { startSession } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { parseAddress } from "../../accounts/users/email-address";
import { createUser, lockUser } from "../../accounts/users/users";
import { config } from "../../config";
import { unitOfWork } from "../../database/unit-of-work";
import { previewedMails } from "../../mail/log-mailer";
import type { Mail } from "../../mail-services/service";
import { isLoopback } from "../../settings/formats";
import type { Visitor } from "../../visitor/visitor";

/** Whether a header `Host` names this machine. */
export const isLoopbackHost = (host: string): boolean => isLoopback(host.replace(/:\d*$/, ""));

/**
 * Signs in without a proof, for the tests of an application in development. An address without an account gets one.
 * @param typedGroups the user's new groups, separated by commas; `undefined` keeps the old ones
 * @returns `null`, and nothing changed, for an invalid address or group, and for a suspended account
 */
export async function signInWithoutProof(visitor: Visitor, typedEmail: string, typedGroups: string | undefined) {
  const email = parseAddress(typedEmail);
  const groups = typedGroups === undefined ? null : sortedGroups(typedGroups.split(",").filter(Boolean));
  if (email === null || (groups && !areGroups(groups))) return null;
  return unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const user = await lockUser(em, { email });
    if (user?.suspendedAt) return null;
    const id = user?.id ?? (await createUser(em, { email }));
    const changed = groups && (await lockUser(em, { id }));
    if (changed) {
      changed.groups = groups;
      await tell(em, "user.groups_changed", changed);
    }
    return startSession(em, id, { visitor, way: null });
  });
}

/** Whether pages say that no mail leaves the server: only developers see this, not the visitors of a service. */
export const isMailLogged = (): boolean => hasLogDriver() && isLoopback(new URL(config().appUrl).hostname);

/** The mails of the `log` driver in development, the last first; `null` with another driver. */
export const mailPreview = (): readonly Mail[] | null => (hasLogDriver() ? previewedMails() : null);

const hasLogDriver = () => config().mail.driver === "log";
