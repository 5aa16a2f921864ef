import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { JWK } from "jose";
import type { AccountEventType, ActorKind, UndeliverableBy } from "../events/events";
import type { SignInWay } from "../rules";
import { passwordKindIndexes } from "./password-kinds";

const missingIssuerIndex = {
  name: "users_idp_issuer_missing_index",
  expression: `create index "users_idp_issuer_missing_index" on "users" ("id") where idp_id is not null and idp_issuer is null`,
};

export const User = defineEntity({
  name: "User",
  tableName: "users",
  properties: {
    id: p.uuid().primary(),
    email: p.text().unique("users_email_unique"),
    passwordHash: p.text().nullable(),
    idpId: p.text().nullable(),
    idpIssuer: p.text().nullable(),
    idpBlockedAt: p.datetime().nullable(),
    /** Since when the account page asks whether the provider's link is the owner's. */
    idpQuestionedAt: p.datetime().nullable(),
    idpLogoutAt: p.datetime().nullable(),
    name: p.text().nullable(),
    pictureUrl: p.text().nullable(),
    language: p.text().nullable(),
    suspendedAt: p.datetime().nullable(),
    /** The operator's. */
    groups: p.array().default([]),
    /** The provider's, of the last sign-in with it; `groupsOf` says whether they count. */
    idpGroups: p.array().default([]),
    /** Since when mails to the address do not arrive, and what told so. */
    undeliverableAt: p.datetime().nullable(),
    undeliverableBy: p.text().$type<UndeliverableBy>().nullable(),
    createdAt: p.datetime(),
  },
  uniques: [{ name: "users_idp_unique", properties: ["idpId", "idpIssuer"] }],
  indexes: [...passwordKindIndexes, missingIssuerIndex],
  checks: [{ name: "users_email_normalized", expression: `email = lower(email collate "C") and email ~ '^[!-~]+$'` }],
});
export type User = InferEntity<typeof User>;

/** The columns of a user whose mails arrive, as far as is known. */
export const deliverable = { undeliverableAt: null, undeliverableBy: null };

const ofUser = () => p.manyToOne(User).deleteRule("cascade").updateRule("cascade").index();

/** The columns of a mailed link: to which address, and until when. */
const linkProperties = () => ({
  tokenHash: p.text().primary(),
  email: p.text().index(),
  expiresAt: p.datetime().index(),
});

export const PasswordReset = defineEntity({
  name: "PasswordReset",
  tableName: "password_resets",
  properties: linkProperties(),
});

export const Registration = defineEntity({
  name: "Registration",
  tableName: "registrations",
  properties: linkProperties(),
});

/** What an operator gives to an address that has no account yet. */
export const Invitation = defineEntity({
  name: "Invitation",
  tableName: "invitations",
  properties: {
    ...linkProperties(),
    email: p.text().unique("invitations_email_unique"),
    groups: p.array().default([]),
    name: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type Invitation = InferEntity<typeof Invitation>;

export const Session = defineEntity({
  name: "Session",
  tableName: "sessions",
  properties: {
    id: p.uuid().primary(),
    /** The id with which it began, if it has got another one: events name it by this id. */
    key: p.uuid().nullable(),
    tokenHash: p.text().unique("sessions_token_hash_unique"),
    user: ofUser,
    userAgent: p.text().nullable(),
    /** How it began; `null` for a session of an earlier release. */
    way: p.text().$type<SignInWay>().nullable(),
    /** The passkey with which it began. */
    credentialId: p.text().nullable(),
    createdAt: p.datetime(),
    lastSeenAt: p.datetime().index(),
    expiresAt: p.datetime().index(),
  },
});
export type Session = InferEntity<typeof Session>;

/** The history of an account. Holds no address, no token and no address of a client. */
export const AccountEvent = defineEntity({
  name: "AccountEvent",
  tableName: "account_events",
  properties: {
    id: p.uuid().primary().defaultRaw("gen_random_uuid()"),
    user: () => p.manyToOne(User).deleteRule("cascade").updateRule("cascade"),
    at: p.datetime().index(),
    type: p.text().$type<AccountEventType>(),
    /** `null` for an event about a mail. */
    actor: p.text().$type<ActorKind>().nullable(),
    /** Of a sign-in, a refused one too. */
    way: p.text().$type<SignInWay>().nullable(),
    browser: p.text().nullable(),
    system: p.text().nullable(),
    /** Of the session that did it. */
    sessionKey: p.uuid().nullable(),
    /** A word of a closed list. */
    detail: p.text().nullable(),
  },
  indexes: [{ properties: ["user", "at"] }],
});
export type AccountEvent = InferEntity<typeof AccountEvent>;

/** What counts once, or for a time: a challenge or a cookie, as its SHA-256. */
export interface Issued {
  hash: string;
  /** In ms since 1970. */
  until: number;
}

/** The offer to bind a session to its device, and the binding. */
export const SessionBinding = defineEntity({
  name: "SessionBinding",
  tableName: "session_bindings",
  properties: {
    /** The SHA-256 of the offer's challenge. */
    id: p.text().primary(),
    session: () =>
      p
        .oneToOne(Session)
        .owner()
        .deleteRule("cascade")
        .updateRule("cascade")
        .unique("session_bindings_session_id_unique"),
    offeredUntil: p.datetime(),
    /** With its `alg`; `null` until the browser registers. */
    publicKey: p.json<JWK>().nullable(),
    challenges: p.json<Issued[]>(),
    cookies: p.json<Issued[]>(),
    /** From when on the session counts only together with one of `cookies`. */
    boundFrom: p.datetime().nullable(),
    /** When the log had the last refusal. */
    refusedAt: p.datetime().nullable(),
  },
});
export type SessionBinding = InferEntity<typeof SessionBinding>;

export const Device = defineEntity({
  name: "Device",
  tableName: "devices",
  properties: {
    tokenHash: p.text().primary(),
    user: ofUser,
    createdAt: p.datetime(),
    lastSeenAt: p.datetime().index(),
  },
});

export const EmailChange = defineEntity({
  name: "EmailChange",
  tableName: "email_changes",
  properties: { ...linkProperties(), user: ofUser },
});
export type EmailChange = InferEntity<typeof EmailChange>;

/** With it, a program is its user at one application. */
export const AccessToken = defineEntity({
  name: "AccessToken",
  tableName: "access_tokens",
  properties: {
    id: p.uuid().primary(),
    user: ofUser,
    name: p.text(),
    tokenHash: p.text().unique("access_tokens_token_hash_unique"),
    /** Of the application. */
    origin: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime().index(),
    lastUsedAt: p.datetime().nullable(),
  },
});
export type AccessToken = InferEntity<typeof AccessToken>;

/** What is needed to verify the answers of an authenticator. Bytes are in base64url. */
export const Passkey = defineEntity({
  name: "Passkey",
  tableName: "passkeys",
  properties: {
    credentialId: p.text().primary(),
    user: ofUser,
    /** The host name for which it was made; `null`: that of `APP_URL`. */
    rpId: p.text().nullable(),
    publicKey: p.text(),
    counter: p.bigint("number"),
    transports: p.array(),
    backedUp: p.boolean(),
    /** Whether the creation had user verification: a conditional one may lack it. */
    userVerified: p.boolean().default(true),
    name: p.text(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
    /** Since when the account page asks whether the passkey is the owner's. */
    questionedAt: p.datetime().nullable(),
  },
});
export type Passkey = InferEntity<typeof Passkey>;

export const PasskeyChallenge = defineEntity({
  name: "PasskeyChallenge",
  tableName: "passkey_challenges",
  properties: {
    challengeHash: p.text().primary(),
    expiresAt: p.datetime().index(),
  },
});

/** A used logout token (OpenID Connect Back-Channel Logout 1.0), or the logout of a person without an account. */
export const LogoutToken = defineEntity({
  name: "LogoutToken",
  tableName: "logout_tokens",
  properties: {
    jtiHash: p.text().primary(), // or `logoutKey`
    expiresAt: p.datetime().index(),
  },
});

/** A secret that one request of `doctor --outside` shows. */
export const Probe = defineEntity({
  name: "Probe",
  tableName: "probes",
  properties: {
    secretHash: p.text().primary(),
    expiresAt: p.datetime().index(),
  },
});

/** How many attempts were counted under a key, and when the count ends (ms since 1970). */
export const RateLimit = defineEntity({
  name: "RateLimit",
  tableName: "rate_limits",
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    expire: p.bigint().nullable().index(),
  },
});

/** Read at the start of releases before 2.1.0, which may run beside this one. */
const Installation = defineEntity({
  name: "Installation",
  tableName: "installation",
  properties: { id: p.uuid().primary() },
});

/** A key pair of the identity tokens. It signs from `signsFrom` until the `signsFrom` of the next one. */
export const SigningKey = defineEntity({
  name: "SigningKey",
  tableName: "signing_keys",
  properties: {
    id: p.text().primary(),
    publicKey: p.json<JWK>(),
    encryptedPrivateKey: p.text(),
    signsFrom: p.datetime(),
  },
});

/** Each table comes after the tables that it references. */
export const entities = [
  User,
  PasswordReset,
  Registration,
  Invitation,
  Session,
  AccountEvent,
  SessionBinding,
  Device,
  EmailChange,
  AccessToken,
  Passkey,
  PasskeyChallenge,
  LogoutToken,
  Probe,
  RateLimit,
  Installation,
  SigningKey,
];
