import { type EntityManager, LockMode, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { User } from "../database/entities";

interface NewUser {
  /** Proven: by an opened link, or by a provider that states that it is verified. */
  email: string;
  passwordHash?: string;
  idpId?: string;
  idpIssuer?: string;
  name?: string | null;
  pictureUrl?: string | null;
}

/**
 * Creates a user within the caller's transaction.
 *
 * @returns the new user's id
 * @throws UniqueConstraintViolationException when the address or the provider's id has a user by now
 */
export async function createUser(em: EntityManager, user: NewUser): Promise<string> {
  const id = crypto.randomUUID();
  const empty = {
    passwordHash: null,
    idpId: null,
    idpIssuer: null,
    idpBlockedAt: null,
    name: null,
    pictureUrl: null,
  };
  await em.insert(User, { ...empty, ...user, id, createdAt: new Date() });
  return id;
}

/** For `catch`: `null` when the address or the provider's id has a user by now. */
export function nullIfTaken(error: unknown): null {
  if (error instanceof UniqueConstraintViolationException) return null;
  throw error;
}

/** A user whose row stays as it is until the caller's transaction ends. */
export function lockUser(
  em: EntityManager,
  where: Partial<Pick<User, "id" | "email" | "idpId" | "passwordHash">>,
): Promise<User | null> {
  return em.findOne(User, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
