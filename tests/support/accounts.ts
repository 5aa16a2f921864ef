import type { EntityManager } from "@mikro-orm/postgresql";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { type Browser, startSession } from "#server/accounts/sessions/sessions";
import { User } from "#server/database/entities";
import type { LoginOrigin } from "#server/features/visitor/login.server";

export interface NewAccount {
  email?: string;
  /** `null`: an account without a password. */
  password?: string | null;
  idpId?: string | null;
  idpIssuer?: string | null;
}

export const goodPassword = "correct horse battery staple";

/** A browser that says nothing about itself and has no session. */
export const unknownBrowser: Browser = { userAgent: null, sessionTokens: [] };

/** Where a login of such a browser comes from. */
export const unknownOrigin: LoginOrigin = { client: "192.0.2.250", deviceToken: null };

/** Creates a user as the flows do; returns its id. */
export async function createUser(em: EntityManager, account: NewAccount = {}): Promise<string> {
  const { email = "ada@example.com", password = goodPassword, idpId = null, idpIssuer = null } = account;
  const id = crypto.randomUUID();
  const passwordHash = password === null ? null : await hashPassword(password);
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

/** Starts a session of the user; returns the browser's `Cookie` header. */
export async function signedIn(em: EntityManager, userId: string, userAgent: string | null = null): Promise<string> {
  const { token } = await em.transactional((tx) => startSession(tx, userId, { ...unknownBrowser, userAgent }));
  return `session=${token}`;
}
