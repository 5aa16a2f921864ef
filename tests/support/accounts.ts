import { randomBytes } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { config } from "#server/config";
import { Session, User } from "#server/database/entities";
import { query } from "#server/database/unit-of-work";
import type { Owner } from "#server/features/owner/signed-in";
import type { Visitor } from "#server/visitor/visitor";
import { goodPassword } from "./passwords";
import { sha256 } from "./sha256";

export interface NewAccount {
  email?: string;
  /** `null`: an account without a password. */
  password?: string | null;
  /** In place of a hash of the password. */
  passwordHash?: string;
  idpId?: string | null;
  idpIssuer?: string | null;
}

const stays = new AbortController().signal;

/** A browser that says nothing about itself, has no cookie and waits for its answer. */
export const unknownVisitor: Visitor = {
  network: "192.0.2.250",
  language: "en",
  userAgent: null,
  sessionTokens: [],
  deviceToken: null,
  ceremonyToken: null,
  arrivedAt: new Date(),
  gone: () => stays,
};

/** A row or an object of the same names, each without a value. */
export const nothing = (like: object = {}) => Object.fromEntries(Object.keys(like).map((name) => [name, null]));

/** The owner of an account, in one of its sessions. */
export const owner = (userId: string, sessionId: string, email = "ada@example.com"): Owner => ({
  ...unknownVisitor,
  sessionId,
  sessionKey: sessionId,
  signedInAt: new Date(),
  expiresAt: new Date(Date.now() + 3_600_000),
  user: { id: userId, email, name: null } as Owner["user"], // what features read
});

/** Creates a user as the flows do; returns its id. */
export async function createUser(em: EntityManager, account: NewAccount = {}): Promise<string> {
  const { email = "ada@example.com", password = goodPassword, idpId = null, idpIssuer = null } = account;
  const id = crypto.randomUUID();
  const { passwordHash = password === null ? null : await hashPassword(unknownVisitor, password) } = account;
  await em.insert(User, {
    id,
    email,
    passwordHash,
    idpId,
    idpIssuer,
    name: null,
    pictureUrl: null,
    createdAt: new Date(),
  });
  return id;
}

/** The lines of `user import` for accounts with `goodPassword`. */
export async function importLines(emails: string[]): Promise<string> {
  const passwordHash = await hashPassword(unknownVisitor, goodPassword);
  return emails.map((email) => JSON.stringify({ email, passwordHash })).join("\n");
}

/** Stores a session of the user, as a sign-in with a password begins one; returns the browser's `Cookie` header. */
export async function signedIn(userId: string, userAgent: string | null = null): Promise<string> {
  const token = randomBytes(32).toString("hex");
  const now = new Date();
  await query((em) =>
    em.insert(Session, {
      id: crypto.randomUUID(),
      key: null,
      tokenHash: sha256(token),
      user: userId,
      userAgent,
      way: "password",
      credentialId: null,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + config().sessions.max),
    }),
  );
  return `session=${token}`;
}
