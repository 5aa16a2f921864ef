import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { mintAccessToken, sha256 } from "../../crypto/tokens";
import { AccessToken, type User } from "../../database/entities";
import { isAllowedOrigin } from "../../origins/return-to";
import { longestTokenName, maxAccessTokens, parseName } from "../../rules";
import { parseReturnOrigin } from "../../settings/formats";
import { tell } from "../users/changes";
import type { Author } from "../users/history";

const day = 86_400_000; // ms

/** What a person or an operator asks for, as it was typed. */
export type AskedToken = Record<"name" | "origin" | "days", string>;

type ParsedToken = Pick<AccessToken, "name" | "origin"> & { days: number };

/** What a token is made of; or the fields that are wrong. */
export function parseAskedToken(asked: AskedToken): ParsedToken | { wrong: (keyof AskedToken)[] } {
  const name = parseName(asked.name, longestTokenName);
  const origin = parseReturnOrigin(asked.origin.trim());
  const days = offeredDays().find((offered) => String(offered) === asked.days);
  const isAllowed = origin !== null && isAllowedOrigin(new URL(origin), config());
  if (name !== null && isAllowed && days !== undefined) return { name, origin, days };
  const isRight = { name: name !== null, origin: isAllowed, days: days !== undefined };
  return { wrong: (["name", "origin", "days"] as const).filter((field) => !isRight[field]) };
}

/** After how many days a new token may end. */
export function offeredDays(): number[] {
  const longest = config().accessTokens?.days ?? 0;
  const offered = [7, 30, 90, 365].filter((days) => days <= longest);
  return offered.length > 0 ? offered : [longest];
}

/** Makes a token and tells its owner. The caller holds the user's row. @returns the token, which is stored nowhere */
export async function makeToken(
  em: EntityManager,
  user: User,
  { days, ...given }: ParsedToken & { id: string },
  by: Author = {},
) {
  if ((await countTokens(em, user.id)) >= maxAccessTokens) return "too_many" as const;
  const token = mintAccessToken();
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + days * day);
  await em.insert(AccessToken, { ...given, user: user.id, tokenHash: sha256(token), createdAt, expiresAt });
  await tell(em, "token.created", user, { by, token: { origin: given.origin, expiresAt } });
  return { token };
}

/** The number of the user's live tokens; 0 without `ACCESS_TOKENS`. */
export const countTokens = async (em: EntityManager, userId: string): Promise<number> =>
  config().accessTokens ? em.count(AccessToken, liveTokens(userId)) : 0;

export const liveTokens = (userId: string) => ({ user: userId, expiresAt: { $gt: new Date() } });

/** Ends every token of the user. The caller holds the user's row. */
export const endTokens = (em: EntityManager, userId: string): Promise<number> =>
  em.nativeDelete(AccessToken, { user: userId });

/** Tokens that were made with a longer `ACCESS_TOKEN_DAYS` end as early as new ones do. */
export async function capTokens(em: EntityManager): Promise<void> {
  const longest = raw("created_at + ? * interval '1 day'", [config().accessTokens?.days ?? 365]);
  await em.nativeUpdate(AccessToken, { expiresAt: { $gt: longest } }, { expiresAt: longest });
}
