import { redirect } from "@remix-run/node";
import { sessionCookieName } from "#server/door/request-facts.server";
import {
  type Browser,
  logOut,
  type NewSession,
  type Owner,
  resumeSession,
  type SessionToken,
  type SignedIn,
  sessionDomain,
} from "#server/features/owner/sessions.server";
import { allowedReturn } from "#server/features/visitor/return-to.server";
import { recentSignInMinutes } from "#server/rules";
import { withReturnTo } from "~/answers/return-to";
import { redirectAfterLogout, redirectFromGuestPage, redirectSignedIn, returnToOf } from "~/answers/return-to.server";
import { isHttps, readCookie, readCookies, writeCookie } from "./cookies.server";
import { languageOf } from "./language.server";
import { rememberedWay, type Way } from "./last-sign-in.server";
import { failureShown, settleFailure } from "./sign-in-attempt.server";

export const recentSignIn = recentSignInMinutes * 60_000; // ms

export const mustSignInAgain = ({ signedInAt }: SignedIn) => signedInAt.getTime() < Date.now() - recentSignIn;

const cookieName = (request: Request) => sessionCookieName(isHttps(request));

export const sessionToken = (request: Request) => readCookie(request, cookieName(request));

/** Where a sibling host planted a second cookie, a logout ends the visitor's session too. */
const everyToken = (request: Request) => readCookies(request, cookieName(request));

/** The headers with the session cookie besides; one of the past is cleared. */
function withSession(request: Request, { token, expiresAt: expires }: SessionToken, headers = new Headers()): Headers {
  const domain = isHttps(request) ? sessionDomain() : null;
  const attributes = { path: "/", expires, ...(domain !== null && { domain }) };
  headers.append("Set-Cookie", writeCookie(request, cookieName(request), token, attributes));
  return headers;
}

export async function getUser(request: Request): Promise<SignedIn | null> {
  const token = sessionToken(request);
  return token ? resumeSession(token) : null;
}

function loginFor(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return withReturnTo("/login", allowedReturn(`${pathname}${search}`));
}

/** Makes a page private. @throws Response for a visitor: to the login page, which leads back to this one */
export async function requireUser(request: Request, login = loginFor(request)): Promise<SignedIn> {
  const signedIn = await getUser(request);
  if (!signedIn) throw redirect(login);
  return signedIn;
}

/** Whether the loader runs for the page of a refused form: Remix keeps the form's headers. */
export const followsForm = (request: Request) => request.headers.has("Content-Type");

/** @throws Response for a signed-in user: to where a sign-in ends, or to the account page, where one failed */
export async function requireGuest(request: Request, returnTo: string | null = null): Promise<void> {
  if (followsForm(request) || !(await getUser(request))) return;
  const failed = new URL(request.url).searchParams.get("notice") === "idp_failed";
  const failure = failureShown(request);
  if (failed && !returnTo && failure?.problem !== "stale") throw redirect("/dashboard?notice=idp_failed");
  throw redirectFromGuestPage(request, returnTo ?? failure?.returnTo ?? null);
}

/** Against somebody who finds an open browser. @throws Response to the login page, which is for guests: the session ends */
export async function requireRecentSignIn(request: Request, signedIn: SignedIn): Promise<void> {
  if (mustSignInAgain(signedIn)) throw await signOut(request, "/login?notice=sign_in_again");
}

export const ownerOf = (request: Request, { user, sessionId }: SignedIn): Owner => ({
  userId: user.id,
  sessionId,
  language: languageOf(request),
});

export const browserOf = (request: Request): Browser => ({
  userAgent: request.headers.get("User-Agent"),
  sessionTokens: everyToken(request),
});

interface SignIn {
  session: NewSession;
  way: Way;
  returnTo: string | null;
  headers?: Headers;
}

export function signIn(request: Request, { session, way, returnTo, headers = new Headers() }: SignIn): Response {
  withSession(request, session, settleFailure(request, headers, returnTo));
  headers.append("Set-Cookie", rememberedWay(request, way));
  return redirectSignedIn(returnTo, headers);
}

export const keepSession = (request: Request, session: SessionToken, location: string): Response =>
  redirect(location, { headers: withSession(request, session) });

async function endSession(request: Request): Promise<Headers> {
  await logOut(everyToken(request));
  return withSession(request, { token: "", expiresAt: new Date(0) });
}

/** @param cookies to set besides */
export async function signOut(request: Request, location: string, ...cookies: string[]): Promise<Response> {
  const headers = await endSession(request);
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return redirect(location, { headers });
}

/** Where `return_to` leads, which may be another application, or to the login page. */
export const leave = async (request: Request): Promise<Response> =>
  redirectAfterLogout(returnToOf(request), await endSession(request));
