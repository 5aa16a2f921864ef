import type { FilterQuery } from "@mikro-orm/core";
import { type EntityManager, LockMode, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Invitation, Registration, User } from "../../database/entities";
import { afterCommit, query } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { announce } from "./changes";

/** Whether this address may get a new account. */
export const mayRegister = (email: string): boolean => config().registration.mode !== "closed" && mayHaveAddress(email);

/** Whether accounts may have this address, as `parseAddress` returns it. `REGISTRATION_DOMAINS` may limit domains. */
export function mayHaveAddress(email: string): boolean {
  const { registration } = config();
  return registration.mode !== "domains" || registration.domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

/** The address is proven by an opened link or by a provider, or an operator vouches for it. */
type NewUser = Pick<User, "email"> & Partial<Omit<User, "createdAt">>;

/**
 * Creates a user, and removes every registration of the address: a link that was mailed before must not set a password
 * later. Accepts an `invitation`: the user has its groups. Tells the application (`user.created`). The caller holds
 * `lockAddresses`.
 * @throws UniqueConstraintViolationException when the address or the provider's id has a user by now
 */
export async function createUser(em: EntityManager, user: NewUser, invitation: Invitation | null = null) {
  const { id = crypto.randomUUID(), email } = user;
  const created = { ...user, id, ...(invitation && { groups: invitation.groups }) };
  await em.nativeDelete(Registration, { email });
  if (invitation) await em.nativeDelete(Invitation, { email });
  await em.insert<User>(User, { ...created, createdAt: new Date() });
  await announce(em, "user.created", created);
  if (invitation) afterCommit(em, () => logEvent({ event: "invitation.accepted", userId: id }));
  return id;
}

/** Turns the error of a taken address or provider's id into `null`, for `catch`. */
export function nullIfTaken(error: unknown): null {
  if (error instanceof UniqueConstraintViolationException) return null;
  throw error;
}

export const lockUser = (em: EntityManager, where: Partial<User>): Promise<User | null> =>
  em.findOne(User, where, { lockMode: LockMode.PESSIMISTIC_WRITE });

const batch = 1_000; // users that are in memory at a time
const inBatches = { orderBy: { email: "asc" }, limit: batch, disableIdentityMap: true } as const;

/** Reads users in batches, in the order of their addresses. */
export async function* usersByAddress(where: FilterQuery<User> = {}): AsyncGenerator<User> {
  let last = "";
  for (;;) {
    const rest = { $and: [where, { email: { $gt: last } }] };
    const users = await query((em) => em.find(User, rest, inBatches));
    yield* users;
    last = users.at(-1)?.email ?? last;
    if (users.length < batch) return;
  }
}
