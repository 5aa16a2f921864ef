import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey, type User } from "../../database/entities";
import { afterCommit } from "../../database/unit-of-work";
import type { AccountEventType, AuthenticationEvent, MailEventType } from "../../events";
import { isLanguage, type Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { enqueue, queue } from "../../queue/job-queue";
import type { AccountChange, ChangedUser, NoticeJob, QuestionedWays } from "../../queue/jobs";
import { groupsOf, isLinked } from "../provider/provider-identities";
import { type Doer, record } from "./history";

/** The URL if it is https: the provider chose it, and pages and applications show it. */
export const shownPicture = (url: string | null | undefined): string | null =>
  url?.startsWith("https://") ? url : null;

type Announced = Pick<User, "id" | "email"> &
  Partial<Pick<User, "name" | "pictureUrl" | "groups" | "idpGroups" | "idpId" | "idpIssuer">>;

/** Enqueues a webhook for each user, in `em`'s transaction, which holds the users' rows. */
export async function announce(
  em: EntityManager,
  type: AccountChange,
  users: Announced | Announced[],
  more: Pick<ChangedUser, "previousEmail"> = {},
): Promise<void> {
  if (!config().webhook) return;
  const jobs = [users].flat().map((user) => {
    const { id, email, name = null, pictureUrl } = user;
    const data = { id, email, name, pictureUrl: shownPicture(pictureUrl), groups: groupsOf(user), ...more };
    return { task: "webhook" as const, type, data };
  });
  await queue().enqueueWebhooks(em, jobs);
}

/** The language of the user's notices: the one in which the owner acted last. */
export const noticeLanguage = ({ language }: User): Language =>
  language && isLanguage(language) ? language : config().defaultLanguage;

/** Where a change is reported: in the log and the account's history, to the owner by mail, to the application by webhook. */
interface Report {
  event: Extract<AuthenticationEvent, { userId: string }>["event"] &
    (Exclude<AccountEventType, MailEventType> | "account.deleted");
  detail?: "passkey";
  mail: NoticeJob["task"] | null;
  webhook: AccountChange | null;
  /** Whether the change may question ways to sign in, which the mail then names. */
  questions?: true;
}
const changes = {
  password_reset: {
    event: "password_reset.completed",
    mail: "mail_password_changed",
    webhook: "user.password_changed",
    questions: true,
  },
  password_replaced: {
    event: "password_reset.completed",
    detail: "passkey",
    mail: "mail_password_replaced",
    webhook: "user.password_changed",
    questions: true,
  },
  passkey_set: {
    event: "password_reset.completed",
    detail: "passkey",
    mail: "mail_passkey_added",
    webhook: null,
    questions: true,
  },
  password_changed: {
    event: "password.changed",
    mail: "mail_password_changed_by_owner",
    webhook: "user.password_changed",
  },
  email_changed: {
    event: "email_change.completed",
    mail: "mail_email_changed",
    webhook: "user.email_changed",
    questions: true,
  },
  provider_linked: {
    event: "idp.linked",
    mail: "mail_provider_linked",
    webhook: "user.provider_linked",
    questions: true,
  },
  provider_unlinked: { event: "idp.unlinked", mail: "mail_provider_unlinked", webhook: "user.provider_unlinked" },
  passkey_added: { event: "passkey.added", mail: "mail_passkey_added", webhook: null }, // no field of a webhook changes
  passkey_removed: { event: "passkey.removed", mail: "mail_passkey_removed", webhook: null },
  deleted: { event: "account.deleted", mail: "mail_account_deleted", webhook: "user.deleted" },
  suspended: { event: "user.suspended", mail: null, webhook: "user.suspended" }, // the operator informs the user
  restored: { event: "user.restored", mail: null, webhook: "user.restored" },
  groups_changed: { event: "user.groups_changed", mail: null, webhook: "user.groups_changed" },
} as const satisfies Record<string, Report>;

/** The ways to sign in about which the account page asks. */
async function questionedWays(em: EntityManager, user: User): Promise<QuestionedWays> {
  const where = { user: user.id, questionedAt: { $ne: null } };
  const passkeys = config().relyingPartyId === null ? [] : await em.find(Passkey, where, { fields: ["name"] });
  const provider = isLinked(user) && user.idpQuestionedAt != null;
  return { passkeys: passkeys.map(({ name }) => name), provider };
}

interface Details {
  /** Who did it: an operator by default. An owner's notices have the language of the page from now on. */
  by?: Doer & { language?: Language };
  /** The address before the change, which gets the notice, too. */
  previousEmail?: string;
}

/** Reports a change to everybody in its row of `changes`, in `em`'s transaction, which holds the user's row. */
export async function tell(
  em: EntityManager,
  change: keyof typeof changes,
  user: User,
  { by = {}, previousEmail }: Details = {},
): Promise<void> {
  const { event, detail, mail: task, webhook, questions }: Report = changes[change];
  if (by.language) user.language = by.language;
  if (event !== "account.deleted") await record(em, [user.id], by, { type: event, detail });
  if (task) {
    const notice = {
      task,
      language: noticeLanguage(user),
      ...(previousEmail !== undefined && { oldEmail: previousEmail, newEmail: user.email }),
      ...(questions && { questioned: await questionedWays(em, user) }),
    };
    for (const email of new Set([previousEmail ?? user.email, user.email])) await enqueue(em, { ...notice, email });
  }
  if (webhook) await announce(em, webhook, user, previousEmail === undefined ? {} : { previousEmail });
  afterCommit(em, () => logEvent({ event, userId: user.id }));
}

/** Reports that the user's groups are no longer those of `before`. */
export async function tellGroups(em: EntityManager, user: User, before: string[], by: Doer = {}): Promise<void> {
  if (groupsOf(user).join() !== before.join()) await tell(em, "groups_changed", user, { by });
}
