import type { FilterQuery } from "@mikro-orm/core";
import { type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { isToken, mintToken, sha256 } from "../../crypto/tokens";
import { EmailChange, type Invitation, PasswordReset, Registration, type User } from "../../database/entities";
import { prepared } from "../../database/prepared";
import { lockTexts } from "../../database/unit-of-work";
import { RESET_TOKEN_TTL_MS } from "../../rules";
import { usableSql } from "../passkeys/relying-party";
import { parseAddress } from "../users/email-address";

type LinkTable = typeof PasswordReset | typeof Registration | typeof Invitation;

type IssuedTable = typeof PasswordReset | typeof Registration;

export async function issueLink(em: EntityManager, table: IssuedTable, email: string, latest?: Date): Promise<string> {
  const { token, row } = newLink(email, latest);
  await em.insert(table, row);
  return token;
}

const resetLinkOfUser = `
  with owner as (
    select id, email, idp_id, idp_issuer from users where email = ? and suspended_at is null),
  link as (insert into password_resets (token_hash, email, expires_at) select ?, email, ? from owner)
  select id as "userId", idp_id as "idpId", idp_issuer as "idpIssuer",
    (select count(*)::int from passkeys where user_id = owner.id and ${usableSql.text}) as passkeys from owner`;

type LinkOwner = Pick<User, "idpId" | "idpIssuer"> & { userId: string; passkeys: number };

export async function issueResetLink(email: string) {
  const { token, row } = newLink(email);
  const values = [email, row.tokenHash, row.expiresAt, ...usableSql.values()];
  const [owner] = await prepared<LinkOwner>("reset-link-of-user", resetLinkOfUser, values);
  return owner ? { ...owner, token } : null;
}

/** A new link for `email`, until `latest` at the latest: its raw token, which is stored nowhere, and its row. */
export function newLink(email: string, latest?: Date) {
  const token = mintToken();
  const usual = Date.now() + RESET_TOKEN_TTL_MS;
  const expiresAt = new Date(Math.min(usual, latest?.getTime() ?? Number.POSITIVE_INFINITY));
  return { token, row: { tokenHash: sha256(token), email, expiresAt } };
}

export interface MailedLink {
  email: string;
  token: string;
}

/** Reads only: an invalid link is refused before it costs an Argon2 hash. `consumeLink` decides again. */
export async function isLinkLive(em: EntityManager, table: LinkTable, link: MailedLink): Promise<boolean> {
  const match = usableLink(link);
  return match !== null && (await em.count(links(table), match)) === 1;
}

/**
 * Locks addresses until the end of the transaction, in one order. A transaction that gives an address to a user, or
 * takes it away, does this first: two links of one address, or two users who swap addresses, would deadlock otherwise.
 */
export const lockAddresses = (em: EntityManager, ...emails: string[]) => lockTexts(em, emails.sort());

/**
 * Consumes the link: true for exactly one of any number of simultaneous callers. They may have different links of the
 * address, because the caller ends the other links. The caller holds the user's row, or `lockAddresses`.
 */
export async function consumeLink(em: EntityManager, table: LinkTable, link: MailedLink): Promise<boolean> {
  const match = usableLink(link);
  return match !== null && (await em.nativeDelete(links(table), match)) === 1;
}

/** Each link sets a password, or a passkey in its place: with `PASSWORDS=off`, none is valid. */
const usableLink = (link: MailedLink) => (config().passwords.on ? unexpiredLink(link) : null);

/** The condition for the link's unexpired row; `null` when the address or the token is malformed. */
export function unexpiredLink({ email: typedEmail, token }: MailedLink) {
  const email = parseAddress(typedEmail);
  return email === null || !isToken(token) ? null : { tokenHash: sha256(token), email, expiresAt: { $gt: new Date() } };
}

/** The columns that each of the tables has. */
const links = (table: LinkTable) => table as typeof Registration;

/** Ends every link that was mailed to the addresses, and every change of the user's address. */
export async function endEveryLink(em: EntityManager, userId: string, ...emails: string[]): Promise<void> {
  const email = { $in: emails };
  await em.nativeDelete(Registration, { email });
  await em.nativeDelete(PasswordReset, { email }); // before the changes, as a reset does
  await endEmailChanges(em, { $or: [{ user: userId }, { email }] });
}

/**
 * The rows are locked in one order: otherwise two users whose changes name each other's addresses could deadlock.
 * `endAllAccess` ends only the user's own changes. To end other users' changes to an address too, call this first with
 * both conditions.
 */
export async function endEmailChanges(em: EntityManager, where: FilterQuery<EmailChange>): Promise<void> {
  const rows = await em.find(EmailChange, where, {
    orderBy: { tokenHash: "asc" },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
  });
  if (rows.length === 0) return;
  await em.nativeDelete(EmailChange, { tokenHash: { $in: rows.map(({ tokenHash }) => tokenHash) } });
}
