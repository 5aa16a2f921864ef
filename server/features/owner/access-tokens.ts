import * as z from "zod";
import { type AskedToken, liveTokens, makeToken, parseAskedToken } from "../../accounts/access-tokens/access-tokens";
import { type Actor, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { nullIfTaken } from "../../accounts/users/users";
import { questionsFor } from "../../accounts/users/ways-in";
import { AccessToken, Session } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";

export { offeredDays } from "../../accounts/access-tokens/access-tokens";

/** The latest first. */
export const tokensOf = (userId: string): Promise<AccessToken[]> =>
  query((em) => em.find(AccessToken, liveTokens(userId), { orderBy: { createdAt: "desc", id: "asc" } }));

/** For programs and files: without the hash. */
export const plainToken = ({ user, tokenHash, ...token }: AccessToken) => token;

/**
 * Makes a token. `questioned`: the session began by a way in question or is older than a question, so a thief may have
 * started it. `made_already`: the form was sent twice.
 * @param typedId of the form. A form makes one token, however often it is sent: a reload of its answer sends it again.
 */
export async function makeOwnToken(actor: Actor, asked: AskedToken, typedId?: string) {
  const parsed = parseAskedToken(asked);
  if ("wrong" in parsed) return parsed;
  const { data: id = crypto.randomUUID() } = z.uuid().safeParse(typedId);
  const made = await unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    const session = actor.sessionId === null ? null : await em.findOne(Session, { id: actor.sessionId });
    if (!user || (actor.sessionId !== null && !session)) return "session_ended";
    if (user.suspendedAt) return "suspended";
    if (session && (await questionsFor(em, user, session)).inherited) return "questioned";
    return makeToken(em, user, { id, ...parsed }, actor);
  }).catch(nullIfTaken);
  return made ?? "made_already";
}

/** @returns whether the user had such a token; `session_ended`, and nothing changed, if the actor's has ended */
export const removeToken = (actor: Actor, typedId: string) =>
  unitOfWork(async (em) => {
    const { data: id } = z.uuid().safeParse(typedId);
    const user = await lockOwner(em, actor);
    if (!user) return "session_ended";
    if (id === undefined || (await em.nativeDelete(AccessToken, { id, user: user.id })) === 0) return false;
    await tell(em, "token.removed", user, { by: actor });
    return true;
  });
