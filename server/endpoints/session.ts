import { sidOf } from "../accounts/sessions/announced-ends";
import { type Answer, json } from "../door/endpoint-answers";
import { notSignedIn } from "../door/request-facts";
import { sessionCookieIn } from "../door/session-cookies";
import { resumeSession } from "../features/owner/signed-in";
import type { RequestFacts } from "../process/context";

const utf8 = { "Content-Type": "application/json; charset=utf-8" };

/** Only for scripts of this origin: browsers send the cookie from other hosts of the site, too. */
export async function answerSession(facts: RequestFacts): Promise<Answer> {
  if (!["GET", "HEAD"].includes(facts.method)) return { status: 405, headers: { Allow: "GET, HEAD" }, body: "" };
  if (facts.crossSite) return json({ error: "cross_origin" }, utf8, 403);
  const token = sessionCookieIn(facts);
  const signedIn = token && (await resumeSession(token, sessionCookieIn(facts, "bound")));
  if (!signedIn || signedIn === "not_bound") return json({ error: "not_signed_in" }, { ...utf8, ...notSignedIn }, 401);
  const { expiresAt, sessionId } = signedIn;
  const { id, email, name, pictureUrl, groups } = signedIn.user;
  return json({ user: { id, email, name, pictureUrl, groups }, expiresAt, sid: sidOf(sessionId) }, utf8);
}
