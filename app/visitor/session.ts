import { redirect, redirectDocument } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts";
import {
  logOut,
  type NewSession,
  resumeSession,
  type SessionToken,
  type SignedIn,
  sessionDomain,
} from "#server/features/owner/sessions";
import { consentOrigin, logsOutAtProvider, providerLogoutUrl } from "#server/features/visitor/external-sign-in";
import { allowedReturn } from "#server/features/visitor/return-to";
import { recentSignInMinutes } from "#server/rules";
import {
  allowFormTarget,
  redirectAfterLogout,
  redirectFromGuestPage,
  redirectSignedIn,
  returnToOf,
} from "~/answers/redirects";
import { withReturnTo } from "~/answers/return-to";
import { deviceCookie, sessionToken, sessionTokens, writeSession } from "./cookies";
import { lastWay, rememberedWay, type Way } from "./last-sign-in";
import { failureShown, settleFailure } from "./sign-in-attempt";

export const recentSignIn = recentSignInMinutes * 60_000; // ms

export const mustSignInAgain = ({ signedInAt }: SignedIn) => signedInAt.getTime() < Date.now() - recentSignIn;

/** Adds the session cookie. An expiry in the past deletes it. */
function withSession(request: Request, { token, expiresAt }: SessionToken, headers = new Headers()): Headers {
  headers.append("Set-Cookie", writeSession(request, token, expiresAt, sessionDomain()));
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

/** Whether a loader runs for the page of a refused form. */
export const followsForm = (request: Request) => factsOf(request).method === "POST";

/** @throws Response for a signed-in user: to where a sign-in leads, or to the account page if one has failed */
export async function requireGuest(request: Request, returnTo: string | null = null): Promise<void> {
  if (followsForm(request) || !(await getUser(request))) return;
  const failed = new URL(request.url).searchParams.get("notice") === "idp_failed";
  const failure = failureShown(request);
  if (failed && !returnTo && failure?.problem !== "stale") throw redirect("/dashboard?notice=idp_failed");
  throw redirectFromGuestPage(request, returnTo ?? failure?.returnTo ?? null);
}

/** Against use of an unattended browser. @throws Response to the login page, which is for guests: the session ends */
export async function requireRecentSignIn(request: Request, signedIn: SignedIn): Promise<void> {
  if (mustSignInAgain(signedIn)) throw await signOut(request, "/login?notice=sign_in_again");
}

interface SignIn {
  session: NewSession;
  /** The token for the browser's device cookie. */
  deviceToken?: string;
  way: Way;
  returnTo: string | null;
  headers?: Headers;
}

export function signIn(
  request: Request,
  { session, deviceToken, way, returnTo, headers = new Headers() }: SignIn,
): Response {
  withSession(request, session, settleFailure(request, headers, returnTo));
  headers.append("Set-Cookie", rememberedWay(request, way));
  if (deviceToken !== undefined) headers.append("Set-Cookie", deviceCookie.write(request, deviceToken));
  return redirectSignedIn(returnTo, headers);
}

export const keepSession = (request: Request, session: SessionToken, location: string): Response =>
  redirect(location, { headers: withSession(request, session) });

async function endSession(request: Request): Promise<Headers> {
  await logOut(sessionTokens(request)); // all of them: a sibling host may have planted one
  return withSession(request, { token: "", expiresAt: new Date(0) });
}

/** @param cookies further cookies to set */
export async function signOut(request: Request, location: string, ...cookies: string[]): Promise<Response> {
  const headers = await endSession(request);
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return redirect(location, { headers });
}

/** Whether `IDP_LOGOUT` is on and this browser's last sign-in used the provider. */
const leavesProvider = (request: Request) => logsOutAtProvider() && lastWay(request) === "provider";

/** Logs out. Redirects to the provider's logout, to `return_to` (which may be another application) or to `/login`. */
export async function leave(request: Request): Promise<Response> {
  const headers = await endSession(request);
  if (!leavesProvider(request)) return redirectAfterLogout(returnToOf(request), headers);
  const url = await providerLogoutUrl();
  return url ? redirectDocument(url, { headers }) : redirectAfterLogout(null, headers);
}

/** Who is signed in, and where the logout leads. @throws Response for a visitor: to the login page */
export async function logOutPage(request: Request): Promise<{ account: string; returnTo: string | null }> {
  const returnTo = returnToOf(request);
  const { user } = await requireUser(request, withReturnTo("/login", returnTo));
  allowLogOut(request, returnTo);
  return { account: user.email, returnTo };
}

/** Lets the log-out form of a page end at another origin. */
export const allowLogOut = (request: Request, returnTo: string | null) =>
  allowFormTarget(request, leavesProvider(request) ? consentOrigin() : returnTo, "/login");
