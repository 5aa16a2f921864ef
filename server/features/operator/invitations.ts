import { lockAddresses, newLink } from "../../accounts/links/mailed-links";
import { findInvitation, removeInvitation } from "../../accounts/users/invitations";
import { config } from "../../config";
import { Invitation, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { sendMail, simulateMail, thenLog } from "../../mail/mailer";
import { invitedLink, invitedMail } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import type { MailCall } from "../../queue/jobs";

const day = 86_400_000; // ms

interface Invited {
  groups: string[];
  name: string | null;
  days: number;
  mail?: true;
}

/**
 * Invites an address, in place of an earlier invitation. Mails the link, or returns it. @returns `null`, and nothing
 * changed, if the address has an account
 */
export async function invite(email: string, { groups, name, days, mail }: Invited): Promise<string | null> {
  const { token, row } = newLink(email);
  const createdAt = new Date();
  const invitation = { ...row, groups, name, createdAt, expiresAt: new Date(createdAt.getTime() + days * day) };
  const isNew = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    if ((await em.count(User, { email })) > 0) return false;
    await em.nativeDelete(Invitation, { email });
    await em.insert(Invitation, invitation);
    const job = { task: "mail_invited", email, language: config().defaultLanguage } as const;
    if (mail) await enqueue(em, { ...job, invitedAt: createdAt.toISOString() });
    return true;
  });
  if (!isNew) return null;
  logEvent({ event: "invitation.created" });
  return invitedLink(email, token);
}

/** The job of an invitation: mails a link with a new token, because no job holds one, unless it was replaced. */
export async function mailInvited(email: string, language: Language, invitedAt: string): Promise<MailCall> {
  const { token, row } = newLink(email);
  const expiresAt = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const invitation = await findInvitation(em, email);
    if (invitation?.createdAt.toISOString() !== invitedAt) return null;
    await em.nativeUpdate(Invitation, { email }, { tokenHash: row.tokenHash });
    return invitation.expiresAt;
  });
  if (expiresAt === null) return simulateMail;
  const days = Math.ceil((expiresAt.getTime() - Date.now()) / day);
  return thenLog(() => sendMail(email, invitedMail(language, email, { token, days })), { event: "registration.sent" });
}

/** In the order of the addresses. */
export const liveInvitations = (): Promise<Invitation[]> =>
  query((em) => em.find(Invitation, { expiresAt: { $gt: new Date() } }, { orderBy: { email: "asc" } }));

/** @returns whether there was a live invitation */
export const uninvite = (email: string): Promise<boolean> =>
  unitOfWork(async (em) => {
    await lockAddresses(em, email);
    return removeInvitation(em, email);
  });
