import { givenUpDays, maxPasskeys, maxSessions } from "../rules";
import {
  type CallFailureReason,
  callFailures,
  type ExternalSignInFailure,
  everySignInFailure,
} from "./sign-in-failures";

/** Who is told of a change: the owner by a mail, the application by a webhook. */
interface Notified {
  mail?: `mail_${string}`;
  webhook?: `user.${string}` | "session.ended";
  /** The history's word for a variant of the event. */
  detail?: "passkey";
  /** Whether the change may question ways to sign in, which the mail then names. */
  questions?: true;
}

interface Definition extends Notified {
  means: string;
  /** Where it is told: the log, the account's history, or both. */
  told: "log" | "history" | "log and history";
  /** Whether it has the account's id. */
  user?: "always" | "sometimes";
  /** What each reason means; empty where its name says it. */
  reasons?: Readonly<Record<string, string>>;
  /** Whether it says how many. */
  count?: true;
  /** Whether anybody with a session can repeat it at will: the history keeps it apart from changes. */
  isRepeatable?: true;
  /** Who is told of a variant of a change. */
  variants?: Readonly<Record<string, Notified>>;
}

/** What is told to the owner and the operator of one account. */
const ofAccount = { told: "log and history", user: "always" } as const;

/** Reasons whose names say what they mean. */
const named = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, ""])) as Record<Name, "">;

const refused = named("throttled", "invalid_link");
const meanings = (failures: Iterable<[string, { means: string }]>) =>
  Object.fromEntries([...failures].map(([reason, { means }]) => [reason, means]));

/**
 * Every event, and all that there is of it: types, metrics, and the tables of docs/monitoring.md and
 * docs/applications.md come from here. No event holds an address or a token.
 */
export const events = {
  "login.succeeded": { means: "A session started with a password.", told: "log", user: "always" },
  "login.failed": {
    means: "A login, or the current password on the account page, was refused.",
    told: "log",
    user: "sometimes",
    reasons: {
      wrong_credentials: "",
      account_changed: "the account was changed meanwhile",
    },
  },
  "login.throttled": { means: "A login exceeded a limit.", told: "log" },
  "session.started": { means: "Somebody signed in.", told: "history", mail: "mail_new_sign_in" },
  "session.ended": {
    means: "Sessions ended. `count` in the log says how many, `sids` in the webhook says which.",
    told: "log and history",
    webhook: "session.ended",
    user: "sometimes",
    count: true,
    isRepeatable: true,
    reasons: {
      ...named(
        "logout",
        "ended_by_user",
        "ended_by_operator",
        "password_reset",
        "password_changed",
        "password_removed",
      ),
      ...named("email_changed", "unlinked", "passkey_removed", "provider_logout", "account_suspended"),
      ...named("account_deleted", "expired"),
      replaced: "the same browser signed in again",
      too_many: `the user had ${maxSessions}`,
    },
  },
  "session.bound": { means: "A browser has bound its session to its device.", told: "log", user: "always" },
  "session.refused": {
    means: "A bound session's cookie came without its bound cookie; at most one line a minute for a session.",
    told: "log",
    user: "always",
    reasons: { not_bound: "it may be a copy" },
  },
  "session.proof_refused": {
    means:
      "A browser's proof that it is on its device was refused: a wrong key, a used or expired challenge, or none. At most one line a minute for each process.",
    told: "log",
  },
  "password_reset.requested": {
    means: "A reset link was requested, or an operator made one.",
    told: "log and history",
    user: "sometimes",
  },
  "password_reset.sent": { means: "The mail with the link was accepted.", told: "log", user: "always" },
  "password_reset.completed": {
    ...ofAccount,
    means: "The new password, or a passkey in its place, was stored.",
    mail: "mail_password_changed",
    webhook: "user.password_changed",
    questions: true,
    variants: {
      replaced: {
        detail: "passkey",
        mail: "mail_password_replaced",
        webhook: "user.password_changed",
        questions: true,
      },
      passkey: { detail: "passkey", mail: "mail_passkey_added", questions: true },
    },
  },
  "password_reset.refused": { means: "A request or a link was refused.", told: "log", reasons: refused },
  "password.changed": {
    ...ofAccount,
    means: "The owner changed the password on the account page.",
    mail: "mail_password_changed_by_owner",
    webhook: "user.password_changed",
  },
  "password.removed": {
    ...ofAccount,
    means: "The owner removed the password on the account page.",
    mail: "mail_password_removed",
    webhook: "user.password_changed",
  },
  "password.not_looked_up": {
    means: "The service of `BREACHED_PASSWORDS` did not answer; the password was allowed.",
    told: "log",
    reasons: meanings(Object.entries(callFailures)),
  },
  "registration.requested": { means: "A registration link was requested.", told: "log" },
  "registration.sent": {
    means: "The mail was accepted.",
    told: "log",
    user: "sometimes",
    reasons: { account_exists: "the mail says that the address has an account" },
  },
  "registration.completed": { ...ofAccount, means: "The account was created.", webhook: "user.created" },
  "registration.refused": {
    means: "A request or a link was refused.",
    told: "log",
    reasons: { ...refused, registration_closed: "the address may not have an account" },
  },
  "name.changed": {
    ...ofAccount,
    means: "The owner or an operator changed the name, or took it away.",
    webhook: "user.name_changed",
    isRepeatable: true,
  },
  "invitation.created": { means: "An operator invited an address.", told: "log" },
  "invitation.accepted": {
    means: "The invited address got an account, or an account got the address.",
    told: "log",
    user: "always",
  },
  "invitation.removed": { means: "An operator removed an invitation, or gave the address an account.", told: "log" },
  "email_change.requested": {
    ...ofAccount,
    means: "The owner asked for another address.",
    mail: "mail_email_changing",
  },
  "email_change.completed": {
    ...ofAccount,
    means: "The new address was confirmed, or an operator gave it.",
    mail: "mail_email_changed",
    webhook: "user.email_changed",
    questions: true,
    variants: { by_operator: { mail: "mail_email_set", webhook: "user.email_changed", questions: true } },
  },
  "email_change.refused": {
    means: "A request or a link was refused.",
    told: "log",
    reasons: {
      ...refused,
      another_account: "the browser was signed in to another one",
      declined: '"I did not ask for this"',
    },
  },
  "idp.started": { means: "A browser was sent to the consent screen.", told: "log" },
  "idp.succeeded": { means: "An external sign-in started a session.", told: "log", user: "always" },
  "idp.failed": {
    means: "An external sign-in failed.",
    told: "log and history",
    reasons: meanings(everySignInFailure),
  },
  "idp.linked": {
    ...ofAccount,
    means: "An account was linked to a provider id.",
    mail: "mail_provider_linked",
    webhook: "user.provider_linked",
    questions: true,
  },
  "idp.unlinked": {
    ...ofAccount,
    means: "The owner or an operator disconnected the provider.",
    mail: "mail_provider_unlinked",
    webhook: "user.provider_unlinked",
  },
  "idp.kept": { ...ofAccount, means: "The owner confirmed a questioned link to the provider.", isRepeatable: true },
  "idp.logout_refused": {
    means: "A logout token of the provider ended nothing.",
    told: "log",
    reasons: {
      invalid: "",
      used: "",
      no_sub: "it has `sid` alone: let the provider send `sub`",
      key_set: "the provider's keys could not be had",
    },
  },
  "passkey.succeeded": { means: "A passkey started a session.", told: "log", user: "always" },
  "passkey.failed": {
    means: "The answer of an authenticator was refused.",
    told: "log and history",
    user: "sometimes",
    reasons: {
      malformed: "",
      challenge: "of another browser or purpose, used, or expired",
      unknown: "removed, or of a deleted account",
      known: "added already",
      too_many: `${maxPasskeys} of the account`,
      not_verified: "origin, RP ID, user verification or signature",
      suspended: "",
      counter: "it went back, so somebody may have a copy of the passkey",
    },
  },
  "passkey.added": { ...ofAccount, means: "On the account page.", mail: "mail_passkey_added" },
  "passkey.removed": { ...ofAccount, means: "On the account page.", mail: "mail_passkey_removed" },
  "passkey.kept": { ...ofAccount, means: "The owner confirmed a questioned passkey.", isRepeatable: true },
  "token.created": { ...ofAccount, means: "An access token for a program was made.", mail: "mail_token_created" },
  "token.removed": { ...ofAccount, means: "The owner or an operator removed an access token." },
  "token.refused": {
    means: "A program's access token was refused; at most one line a minute for each reason, in each process.",
    told: "log",
    user: "sometimes",
    reasons: {
      unknown: "never made, removed, or sent beside another one",
      expired: "",
      origin: "of another application, one that `RETURN_ORIGINS` does not name, or none",
    },
  },
  "mail.sent": { means: "The mail service accepted a mail.", told: "history" },
  "mail.refused": { means: "The mail service refused a mail for good.", told: "history" },
  "mail.failed": {
    means: "A mail was given up.",
    told: "log",
    reasons: named("recipient_refused", "message_refused", "retries_exhausted"),
  },
  "mail.bounced": { ...ofAccount, means: "The mail service said that a mail did not arrive." },
  "mail.complained": { ...ofAccount, means: "The reader of a mail called it spam." },
  "user.suspended": { ...ofAccount, means: "An operator suspended the account.", webhook: "user.suspended" },
  "user.restored": { ...ofAccount, means: "An operator lifted the suspension.", webhook: "user.restored" },
  "user.groups_changed": {
    ...ofAccount,
    means: "An operator, or the provider (`IDP_GROUPS_CLAIM`), changed the groups.",
    webhook: "user.groups_changed",
  },
  "users.imported": { means: "`user import` created `count` accounts.", told: "log", count: true },
  "limits.cleared": { means: "An operator lifted the limits on attempts.", told: "history" },
  "account.deleted": {
    means: "The owner or an operator deleted the account.",
    told: "log",
    user: "always",
    mail: "mail_account_deleted",
    webhook: "user.deleted",
  },
  "webhook.failed": {
    means: "A webhook was given up.",
    told: "log",
    reasons: {
      retries_exhausted: "",
      waited_too_long: `${givenUpDays} days behind other webhooks of its user, after a 410 or without \`WEBHOOK_URL\``,
    },
  },
  "webhook.stopped": {
    means: "The application answered 410: this process sends no webhook until its next start.",
    told: "log",
  },
} as const satisfies Record<string, Definition>;

type Events = typeof events;

export type EventName = keyof Events;

/** The names of the events that are told there. */
type ToldIn<Place extends "log" | "history"> = {
  [Name in EventName]: Events[Name]["told"] extends `${string}${Place}${string}` ? Name : never;
}[EventName];

type UserOf<Event> = Event extends { user: "always" }
  ? { userId: string }
  : Event extends { user: "sometimes" }
    ? { userId?: string }
    : unknown;

export type ReasonOf<Name extends EventName> = Name extends "idp.failed"
  ? ExternalSignInFailure
  : Name extends "password.not_looked_up"
    ? CallFailureReason
    : Events[Name] extends { reasons: infer Reasons }
      ? keyof Reasons & string
      : never;

type ReasonField<Name extends EventName> = [ReasonOf<Name>] extends [never]
  ? unknown
  : Name extends "registration.sent"
    ? { reason?: ReasonOf<Name> }
    : { reason: ReasonOf<Name> };

type CountOf<Event> = Event extends { count: true } ? { count: number } : unknown;

/** An event as it is logged. */
export type LoggedEvent = {
  [Name in ToldIn<"log">]: { event: Name } & UserOf<Events[Name]> & ReasonField<Name> & CountOf<Events[Name]>;
}[ToldIn<"log">];

/** Every event of the log, once for each of its reasons. */
export const loggedEvents = (): [event: string, reason?: string][] =>
  Object.entries<Definition>(events)
    .filter(([, { told }]) => told !== "history")
    .flatMap(([event, { reasons }]): [string, string?][] =>
      reasons ? Object.keys(reasons).map((reason) => [event, reason]) : [[event]],
    );

/** What an account's history tells of: what has a text in every language. A sign-in has a `way`. */
export type AccountEventType = ToldIn<"history">;

/** What anybody with a session can repeat at will. */
export const repeatableEvents = Object.entries<Definition>(events)
  .filter(([, { isRepeatable }]) => isRepeatable)
  .map(([name]) => name);

export type MailEventType = Extract<AccountEventType, `mail.${string}`>;

/** What told that mails to an address do not arrive. */
export type UndeliverableBy = Exclude<MailEventType, "mail.sent">;

type NotifiedOf<Event> = Event | (Event extends { variants: infer Variants } ? Variants[keyof Variants] : never);
type ValueOf<Name extends EventName, Key extends "mail" | "webhook"> =
  NotifiedOf<Events[Name]> extends infer Each ? (Each extends Record<Key, infer Value> ? Value : never) : never;

/** The tasks of the mails that tell an owner of an event. */
export type NoticeTask = { [Name in EventName]: ValueOf<Name, "mail"> }[EventName];

/** The types of the webhooks. */
export type WebhookType = { [Name in EventName]: ValueOf<Name, "webhook"> }[EventName];

/** What a webhook's data have beside the user. */
export interface WebhookDetails {
  /** Of `user.email_changed`. */
  previousEmail?: string;
  /** Of `session.ended`: 1 to 50 names of sessions, and why they ended. */
  sids?: string[];
  reason?: ToldSessionEnd;
}

/** The changes of an account that are told to everybody whom their entry names. */
export type Change = {
  [Name in ToldIn<"log">]: Events[Name] extends typeof ofAccount | { user: "always"; mail: string } ? Name : never;
}[Exclude<ToldIn<"log">, MailEventType>];

type VariantsOf<Event> = Event extends { variants: infer Variants } ? keyof Variants : never;

/** A reset may put a passkey in the place of a password, or where there was none. An operator may give an address. */
export type Variant = { [Name in Change]: VariantsOf<Events[Name]> }[Change];

interface Recipients extends Notified {
  mail?: NoticeTask;
  webhook?: WebhookType;
}

/** Who is told of a change, or of its variant. */
export function toldOf(change: Change, variant?: Variant): Recipients {
  const event: Recipients & { means: string; variants?: Partial<Record<Variant, Recipients>> } = events[change];
  return (variant && event.variants?.[variant]) ?? event;
}

export type SessionEnd = ReasonOf<"session.ended">;
/** Why a session ended, as an application hears it: a deletion tells `user.deleted`. */
export type ToldSessionEnd = Exclude<SessionEnd, "account_deleted" | "expired"> | "renewed";
export type PasskeyFailure = ReasonOf<"passkey.failed">;
export type LogoutTokenFailure = ReasonOf<"idp.logout_refused">;
export type MailRefusal = Exclude<ReasonOf<"mail.failed">, "retries_exhausted">;

/** Who made a change. */
export type ActorKind = "owner" | "operator" | "provider";
