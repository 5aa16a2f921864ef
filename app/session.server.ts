import { redirect } from "@remix-run/node";
import { type Browser, logOut, type NewSession, resumeSession, type SignedIn } from "#server/features/sessions.server";
import { sessionCookieName } from "#server/http/request-facts.server";
import { recentSignInMinutes } from "#server/rules";
import { isHttps, readCookie, writeCookie } from "./cookies.server";

export const recentSignIn = recentSignInMinutes * 60_000; // ms

const cookieName = (request: Request) => sessionCookieName(isHttps(request));

/** The token of the session cookie; `null` for none. */
export const sessionToken = (request: Request) => readCookie(request, cookieName(request));

const sessionCookie = (request: Request, token: string, expires: Date) =>
  writeCookie(request, cookieName(request), token, { path: "/", expires });

/** The live session of the request and its user; `null` for a visitor. */
export async function getUser(request: Request): Promise<SignedIn | null> {
  const token = sessionToken(request);
  return token ? resumeSession(token) : null;
}

/** @throws Response to the login page for a visitor */
export async function requireUser(request: Request): Promise<SignedIn> {
  const signedIn = await getUser(request);
  if (!signedIn) throw redirect("/login");
  return signedIn;
}

/** Whether the loader runs for the page of a refused form: Remix keeps the form's headers. */
const followsForm = (request: Request) => request.headers.has("Content-Type");

/**
 * @throws Response to the account page for a signed-in user; it also says that an external sign-in failed
 */
export async function requireGuest(request: Request): Promise<void> {
  if (followsForm(request) || !(await getUser(request))) return;
  const failed = new URL(request.url).searchParams.get("notice") === "idp_failed";
  throw redirect(failed ? "/dashboard?notice=idp_failed" : "/dashboard");
}

/**
 * Protects what cannot be undone from somebody who finds an open browser. The login page is for guests, so an older
 * session ends here.
 *
 * @throws Response to the login page when the sign-in is older than 15 minutes
 */
export async function requireRecentSignIn(request: Request, { signedInAt }: SignedIn): Promise<void> {
  if (signedInAt.getTime() < Date.now() - recentSignIn) throw await signOut(request, "/login?notice=sign_in_again");
}

/** What a sign-in has to know of the request's browser. */
export function browserOf(request: Request): Browser {
  return { userAgent: request.headers.get("User-Agent"), sessionToken: sessionToken(request) };
}

/** Sets the cookie of a new session and redirects to the account page. */
export function signIn(request: Request, { token, expiresAt }: NewSession, headers = new Headers()): Response {
  headers.append("Set-Cookie", sessionCookie(request, token, expiresAt));
  return redirect("/dashboard", { headers });
}

/** Ends the session in the database, clears its cookie and redirects. */
export async function signOut(request: Request, location = "/login"): Promise<Response> {
  const token = sessionToken(request);
  if (token) await logOut(token);
  return redirect(location, { headers: { "Set-Cookie": sessionCookie(request, "", new Date(0)) } });
}
