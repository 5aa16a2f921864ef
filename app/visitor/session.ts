import { redirect, redirectDocument } from "@remix-run/node";
import { offerHeader } from "#server/accounts/session-binding/offer";
import { config } from "#server/config";
import { factsOf, originOf } from "#server/door/request-facts";
import { SessionNotRefreshed } from "#server/errors";
import { logOut, type NewSession, type SessionToken } from "#server/features/owner/own-sessions";
import { type Owner, resumeSession } from "#server/features/owner/signed-in";
import { knownLogoutUrl, logoutUrl } from "#server/provider/client";
import { isOlderThan, recentSignInMinutes, type SignInWay } from "#server/rules";
import { allowFormTarget } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { allowedReturn, maxAgeOf, returnToOf } from "~/visitor/page-query";
import {
  atProvider,
  boundToken,
  clearBound,
  deviceCookie,
  lastWayCookie,
  loginAddressCookie,
  sessionToken,
  sessionTokens,
  writeNotice,
  writeSession,
} from "./cookies";
import { accountWith, loginWith, noticeOf } from "./notices";
import { failureShown, settleFailure } from "./oauth-attempt";
import { visitorOf } from "./visitor";

/** @throws Response for a form whose page was of another account: to the account page, which says so once */
export function requireAccount(request: Request, { user }: Owner, account: string | undefined): void {
  if (account === undefined || account === user.id) return;
  const headers = { "Set-Cookie": writeNotice(request, { notice: "another_account" }) };
  throw redirect("/dashboard", { headers });
}

/**
 * Lets a guest pass, and a signed-in user whose sign-in is older than `maxAge` seconds.
 * @returns the address of such a user; `null` for a guest
 * @throws Response for another one: to where a sign-in leads, or to the account page if one has failed
 */
export async function requireGuest(
  request: Request,
  returnTo: string | null = null,
  maxAge = maxAgeOf(request),
): Promise<string | null> {
  const isRefusedForm = followsForm(request);
  const signedIn = isRefusedForm && maxAge === null ? null : await getUser(request, !isRefusedForm);
  if (!signedIn) return null;
  if (maxAge !== null && isOlderThan(maxAge, signedIn.signedInAt)) return signedIn.user.email;
  if (isRefusedForm) return null;
  const failed = noticeOf(request) === "idp_failed";
  const failure = failureShown(request);
  if (failed && !returnTo && failure?.problem !== "stale") throw redirect(accountWith("idp_failed"));
  const target = returnTo ?? failure?.returnTo ?? config().afterSignIn;
  const { origin, pathname } = new URL(target, originOf(request));
  const isThisPage = origin === originOf(request) && pathname === new URL(request.url).pathname;
  throw redirectTo(isThisPage ? "/dashboard" : target);
}

/** Against use of an unattended browser. @throws Response that ends the session and leads to the login page */
export async function requireRecentSignIn(request: Request, owner: Owner): Promise<void> {
  if (!mustSignInAgain(owner)) return;
  const login = accountLogin(loginWith("sign_in_again"));
  throw await signOut(request, login, loginAddressCookie.write(request, owner.user.email));
}

/** @param added seconds for which a sign-in stays recent beyond the usual time */
export const mustSignInAgain = ({ signedInAt }: Pick<Owner, "signedInAt">, added = 0): boolean =>
  isOlderThan(recentSignInMinutes * 60 + added, signedInAt);

/** @param cookies further cookies to set */
export async function signOut(request: Request, location: string, ...cookies: string[]): Promise<Response> {
  const headers = await endBrowserSession(request);
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return redirect(location, { headers });
}

interface CompletedSignIn {
  session: NewSession;
  /** The token for the browser's device cookie. */
  deviceToken?: string;
  way: SignInWay;
  returnTo: string | null;
  headers?: Headers;
}

export function signIn(request: Request, completed: CompletedSignIn): Response {
  const { session, deviceToken, way, returnTo, headers = new Headers() } = completed;
  settleFailure(request, headers, returnTo);
  headers.append("Set-Cookie", writeSession(request, session));
  if (config().deviceBoundSessions) headers.append("Set-Cookie", clearBound(request));
  writeBindingOffer(headers, session);
  headers.append("Set-Cookie", lastWayCookie.write(request, way));
  if (loginAddressCookie.read(request)) headers.append("Set-Cookie", loginAddressCookie.clear(request));
  if (deviceToken !== undefined) headers.append("Set-Cookie", deviceCookie.write(request, deviceToken));
  return redirectTo(returnTo ?? config().afterSignIn, headers);
}

export function keepSession(request: Request, session: SessionToken, location: string): Response {
  const headers = new Headers({ "Set-Cookie": writeSession(request, session) });
  writeBindingOffer(headers, session);
  return redirect(location, { headers });
}

function writeBindingOffer(headers: Headers, { bindingChallenge }: SessionToken): void {
  if (bindingChallenge !== undefined) headers.set(...offerHeader(bindingChallenge));
}

/** The provider's logout for a page's link, which is shown once; `null` if there is nothing to leave. */
export async function providerLogoutLink(request: Request, isShown = true) {
  const providerLogout = isShown && leavesProvider(request) ? await logoutUrl() : null;
  return { providerLogout, headers: new Headers(providerLogout ? { "Set-Cookie": atProvider.clear(request) } : {}) };
}

/** Logs out. Redirects to the provider's logout, to `return_to` (which may be another application) or to `/login`. */
export async function logOutAndRedirect(request: Request): Promise<Response> {
  const headers = await endBrowserSession(request);
  const isLeaving = leavesProvider(request);
  const isAllowed = isLeaving && knownLogoutUrl() !== null; // else `form-action` would block the redirect
  const url = isLeaving && (await logoutUrl());
  if (url && !isAllowed) return redirect(loginWith("signed_out"), { headers }); // this page has the link
  if (isLeaving) headers.append("Set-Cookie", atProvider.clear(request));
  if (url) return redirectDocument(url, { headers });
  const returnTo = isLeaving ? null : returnToOf(request);
  return returnTo !== null ? redirectTo(returnTo, headers) : redirect(signedOutPage(), { headers });
}

async function endBrowserSession(request: Request): Promise<Headers> {
  await logOut(sessionTokens(request)); // all of them: a sibling host may have planted one
  const headers = new Headers({ "Set-Cookie": writeSession(request, { token: "", expiresAt: new Date(0) }) });
  if (config().deviceBoundSessions) headers.append("Set-Cookie", clearBound(request));
  return headers;
}

/** The target may be another application on this host. Remix would look for a route, so the browser loads it. */
function redirectTo(target: string, headers = new Headers()): Response {
  return target === "/dashboard" ? redirect(target, { headers }) : redirectDocument(target, { headers });
}

/** Who is signed in, and where the logout leads. @throws Response for a visitor: to the login page */
export async function logOutPage(request: Request): Promise<{ account: string; returnTo: string | null }> {
  const returnTo = returnToOf(request);
  const { user } = await requireUser(request, withReturnTo(signedOutPage(), returnTo));
  allowLogOut(request, returnTo);
  return { account: user.email, returnTo };
}

/** Makes a page private. @throws Response for a visitor: to the login page, which leads back to this one */
export async function requireUser(request: Request, login?: string): Promise<Owner> {
  const signedIn = await getUser(request, true);
  if (signedIn) return signedIn;
  const { pathname, search } = new URL(request.url);
  const page = login ?? withReturnTo("/login", allowedReturn(`${pathname}${search}`));
  throw followsForm(request) ? endedSession(request, page) : redirect(page);
}

/**
 * The visitor with its signed-in user, and with the tokens of its cookies: give a page its `user` alone. `null` for a
 * visitor without a session.
 * @throws SessionNotRefreshed for a page (`isPage`) whose browser says so: it must not lead to the login page
 */
export async function getUser(request: Request, isPage = false): Promise<Owner | null> {
  const token = sessionToken(request);
  const session = token ? await resumeSession(token, boundToken(request)) : null;
  if (session !== "not_bound") return session && { ...visitorOf(request), ...session };
  if (isPage && request.headers.has("Secure-Session-Skipped")) throw new SessionNotRefreshed();
  return null;
}

/** Whether a loader runs for the page of a refused form. */
export const followsForm = (request: Request) => factsOf(request).method === "POST";

/** The answer to a form of a session that has ended: the login page says so once. */
export const endedSession = (request: Request, login = accountLogin()) =>
  redirect(login, { headers: { "Set-Cookie": writeNotice(request, { notice: "session_ended" }) } });

/** The login page. A sign-in there leads to the account page, whatever `AFTER_SIGN_IN` is. */
export const accountLogin = (login = "/login"): string =>
  withReturnTo(login, config().afterSignIn === "/dashboard" ? null : "/dashboard");

/** Without a notice, `/login` may redirect to the provider, which would sign the user in again at once. */
function signedOutPage(): string {
  const { signInRedirect, identityProvider } = config();
  return signInRedirect || identityProvider?.logout ? loginWith("signed_out") : "/login";
}

/** Lets the log-out form of a page end at another origin. */
export function allowLogOut(request: Request, returnTo: string | null): void {
  const url = leavesProvider(request) ? knownLogoutUrl() : returnTo;
  if (url !== null) allowFormTarget(request, url);
}

const leavesProvider = (request: Request): boolean =>
  config().identityProvider?.logout === true && atProvider.read(request) !== null;
