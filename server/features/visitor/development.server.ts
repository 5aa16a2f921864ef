import { lockAddresses } from "../../accounts/links/mailed-links";
import { type Browser, logEndedSessions, type NewSession, startSession } from "../../accounts/sessions/sessions";
import { parseAddress } from "../../accounts/users/email-address";
import { createUser, lockUser } from "../../accounts/users/users";
import { unitOfWork } from "../../database/unit-of-work";
import { isLoopback } from "../../settings/forms";

/** Whether a header `Host` names this machine. */
export const isLoopbackHost = (host: string): boolean => isLoopback(host.replace(/:\d*$/, ""));

/**
 * Signs in without a proof, for the tests of an application in development. An address without an account gets one.
 * @returns `null`, and nothing changed, for text that is no address, and for a suspended account
 */
export async function signInWithoutProof(typedEmail: string, browser: Browser): Promise<NewSession | null> {
  const email = parseAddress(typedEmail);
  if (email === null) return null;
  const session = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const user = await lockUser(em, { email });
    return user?.suspendedAt ? null : startSession(em, user?.id ?? (await createUser(em, { email })), browser);
  });
  if (session) logEndedSessions(session);
  return session;
}
