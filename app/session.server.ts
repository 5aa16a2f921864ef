import { redirect } from "@remix-run/node";
import { parse } from "cookie";
import { serializeCookie } from "oslo/cookie";
import { originOf } from "#server/connection.server";
import {
  type Browser,
  endSessionOfToken,
  type NewSession,
  resumeSession,
  type SignedIn,
} from "#server/sessions.server";

const recent = 15 * 60_000; // ms

const isSecure = (request: Request) => originOf(request).startsWith("https:");

const cookieName = (request: Request) => (isSecure(request) ? "__Host-session" : "session");

function sessionCookie(request: Request, token: string, expires: Date): string {
  const secure = isSecure(request);
  return serializeCookie(cookieName(request), token, { path: "/", httpOnly: true, sameSite: "lax", secure, expires });
}

/** Names are compared as sent: `%5F%5FHost-session` is no `__Host-session`. */
function sessionToken(request: Request): string | null {
  return parse(request.headers.get("Cookie") ?? "", { decode: (value) => value })[cookieName(request)] ?? null;
}

export async function getUser(request: Request): Promise<SignedIn | null> {
  const token = sessionToken(request);
  return token ? resumeSession(token) : null;
}

export async function requireUser(request: Request): Promise<SignedIn> {
  const signedIn = await getUser(request);
  if (!signedIn) throw redirect("/login");
  return signedIn;
}

/** A loader also runs behind a refused form, with that form's headers: whoever sent it gets to read why. */
const answersForm = (request: Request) => request.headers.has("Content-Type");

export async function requireGuest(request: Request): Promise<void> {
  if (!answersForm(request) && (await getUser(request))) throw redirect("/dashboard");
}

/**
 * For what cannot be undone: somebody who finds an open browser must not be able to do it. The login page is for
 * guests, so the old session ends here.
 */
export async function requireRecentSignIn(request: Request, { signedInAt }: SignedIn): Promise<void> {
  if (signedInAt.getTime() < Date.now() - recent) throw await signOut(request);
}

/** What a new session has to know of the browser that it is for. */
export function browserOf(request: Request): Browser {
  return { userAgent: request.headers.get("User-Agent"), sessionToken: sessionToken(request) };
}

/** Hands the browser its new session. */
export function signIn(request: Request, { token, expiresAt }: NewSession, headers = new Headers()): Response {
  headers.append("Set-Cookie", sessionCookie(request, token, expiresAt));
  return redirect("/dashboard", { headers });
}

/** Ends the session in the database and clears the cookie. */
export async function signOut(request: Request): Promise<Response> {
  const token = sessionToken(request);
  if (token) await endSessionOfToken(token);
  return redirect("/login", { headers: { "Set-Cookie": sessionCookie(request, "", new Date(0)) } });
}
