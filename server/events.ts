import type { AnswerTexts } from "./languages/texts";

/** Why a call to another service failed: `status 400`, `timeout`, … */
export type CallFailureReason =
  | "timeout"
  | "unreachable"
  | "too_large"
  | "private_address"
  | "not_json"
  | "unexpected"
  | `${"redirect" | "status"} ${number}`;

export type SignInStep = "discovery" | "exchange" | "profile";

export type ExternalSignInFailure =
  | "off"
  | "repeated_parameter"
  | "state"
  | "issuer"
  | "no_code"
  | "no_email"
  | "no_verified_email"
  | "client_gone"
  | "linked_to_another_id"
  | "disconnected"
  | "suspended"
  | "already_connected"
  | "another_session"
  | "sign_in_too_old"
  | "id_of_another_account"
  | "registration_closed"
  | "logged_out"
  | "database"
  | "unexpected"
  | `authorization: ${string}` // a registered error code, or `other`
  | `${SignInStep}: ${CallFailureReason}`;

/** Why the answer of an authenticator was refused. `counter`: it went back, so the passkey may have been copied. */
export type PasskeyFailure =
  | "malformed"
  | "challenge"
  | "unknown"
  | "known"
  | "too_many"
  | "not_verified"
  | "suspended"
  | "counter";

export type SessionEnd =
  | "logout"
  | "ended_by_user"
  | "ended_by_operator"
  | "replaced"
  | "too_many"
  | "password_reset"
  | "password_changed"
  | "email_changed"
  | "account_deleted"
  | "account_suspended"
  | "unlinked"
  | "passkey_removed"
  | "provider_logout"
  | "expired";

/** Why a logout token of the provider ended nothing. `no_sub`: it only names a session of the provider. */
export type LogoutTokenFailure = "invalid" | "used" | "no_sub" | "key_set";

/** Why the mail service refused a mail for good. */
export type MailRefusal = "recipient_refused" | "message_refused";

/** What an account's history tells of: what has a text in every language. A sign-in has a `way`. */
export type AccountEventType = keyof AnswerTexts["events"];

export type MailEventType = Extract<AccountEventType, `mail.${string}`>;

/** What told that mails to an address do not arrive. */
export type UndeliverableBy = Exclude<MailEventType, "mail.sent">;

/** Who made a change. */
export type Actors = "owner" | "operator" | "provider";

/** Every authentication event that is logged. No event holds an address or a token. */
export type AuthenticationEvent =
  | { event: "login.succeeded"; userId: string }
  | { event: "login.failed"; reason: "wrong_credentials" }
  | { event: "login.failed"; reason: "account_changed"; userId: string }
  | { event: "login.throttled" }
  | { event: "password_reset.requested"; userId?: string }
  | { event: "password_reset.sent" | "password_reset.completed"; userId: string }
  | { event: "password_reset.refused"; reason: "throttled" | "invalid_link" }
  | { event: "password.changed"; userId: string }
  | { event: "email_change.requested" | "email_change.completed"; userId: string }
  | { event: "email_change.refused"; reason: "throttled" | "invalid_link" | "another_account" | "declined" }
  | { event: "registration.requested" }
  | { event: "registration.sent" }
  | { event: "registration.sent"; reason: "account_exists"; userId: string }
  | { event: "registration.completed"; userId: string }
  | { event: "registration.refused"; reason: "throttled" | "invalid_link" | "registration_closed" }
  | { event: "idp.started" }
  | { event: "idp.succeeded" | "idp.linked" | "idp.unlinked" | "idp.kept"; userId: string }
  | { event: "idp.failed"; reason: ExternalSignInFailure }
  | { event: "idp.logout_refused"; reason: LogoutTokenFailure }
  | { event: "passkey.added" | "passkey.removed" | "passkey.kept" | "passkey.succeeded"; userId: string }
  | { event: "passkey.failed"; reason: PasskeyFailure; userId?: string }
  | { event: "session.bound"; userId: string }
  | { event: "session.refused"; reason: "not_bound"; userId: string }
  | { event: "session.ended"; reason: SessionEnd; userId?: string; count: number }
  | { event: "mail.bounced" | "mail.complained"; userId: string }
  | { event: "mail.failed"; reason: MailRefusal | "retries_exhausted" }
  | { event: "webhook.failed"; reason: "retries_exhausted" | "waited_too_long" }
  | { event: "webhook.stopped" }
  | { event: "account.deleted" | "user.suspended" | "user.restored" | "user.groups_changed"; userId: string }
  | { event: "password.not_looked_up"; reason: CallFailureReason }
  | { event: "users.imported"; count: number };
