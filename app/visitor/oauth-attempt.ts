import { createHash, timingSafeEqual } from "node:crypto";
import { redirect } from "@remix-run/node";
import { originOf } from "#server/door/request-facts";
import { connectBinding } from "#server/features/owner/provider-link";
import { type Attempt, type SignInProblem, signInProblems } from "#server/features/visitor/external-sign-in";
import { allowedReturn } from "~/answers/responses";
import { readCookie, readCookies, sentPairs, sessionToken, writeCookie } from "./cookies";

export const attemptLifetime = 600; // seconds

type StateCookie = "oauth_state" | "oauth_verifier" | "oauth_connect";

export const redirectUri = (request: Request) => `${originOf(request)}/auth/idp/callback`;

/** Whether the cookie was sent. True also if it was sent twice, in which case its value counts as absent. */
const isSent = (request: Request, name: StateCookie) => readCookies(request, name).length > 0;

function stateCookies(request: Request, values: Partial<Record<StateCookie, string | null>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values) as [StateCookie, string | null][]) {
    if (value === null && name !== "oauth_state" && !isSent(request, name)) continue;
    const attributes = { path: "/auth/idp", maxAge: value === null ? 0 : attemptLifetime };
    headers.append("Set-Cookie", writeCookie(request, name, value ?? "", attributes));
  }
  return headers;
}

const cleared = { oauth_state: null, oauth_verifier: null, oauth_connect: null };

export const connectCookies = (request: Request, { state, codeVerifier }: Attempt): Headers =>
  stateCookies(request, {
    oauth_state: state,
    oauth_verifier: codeVerifier,
    oauth_connect: connectBinding(sessionToken(request) ?? "", state),
  });

function equals(own: string | null, sent: string): boolean {
  const [left, right] = [Buffer.from(own ?? ""), Buffer.from(sent)];
  return own !== null && left.length === right.length && timingSafeEqual(left, right);
}

/** Whether the response's `state` is the one of this browser, compared in constant time. */
export const isOwnState = (request: Request, state: string | null): state is string =>
  state !== null && equals(readCookie(request, "oauth_state"), state);

/** True also if a sibling host has set a second cookie: as a sign-in, the attempt could create or link an account. */
export const isConnecting = (request: Request) => isSent(request, "oauth_connect");

/** Whether this browser's session started the attempt to connect. */
export const isOwnConnection = (request: Request, state: string): boolean =>
  equals(readCookie(request, "oauth_connect"), connectBinding(sessionToken(request) ?? "", state));

/** A sign-in at the provider that this browser has started. */
interface SignInAttempt {
  returnTo: string | null;
  /** Whether a stale response may restart it. That is allowed once, to prevent a loop. */
  canRestart: boolean;
  /** Why it failed; only in the cookie `idp_failure`. */
  problem: SignInProblem | null;
}

const failureName = "idp_failure";
const attemptCookie = { path: "/auth/idp", maxAge: 3_600 }; // longer than the state's: a late response still has one
const failureCookie = { path: "/", maxAge: 600 }; // the page's data come from /login.data
const attemptBytes = 6_000; // of all attempts: Node.js refuses a request with 16 KiB of headers

const nameOf = (state: string) => `oauth_attempt_${createHash("sha256").update(state).digest("hex").slice(0, 32)}`;

const encode = ({ returnTo, canRestart, problem }: SignInAttempt) =>
  [canRestart ? 1 : 0, Buffer.from(returnTo ?? "").toString("base64url"), problem].join(".");

/** A sibling host may have planted the cookie, so its target must be allowed. */
function read(request: Request, name: string): SignInAttempt | null {
  const [, mark, target, problem] = /^([01])\.([\w-]*)\.(\w*)$/.exec(readCookie(request, name) ?? "") ?? [];
  if (target === undefined) return null;
  const returnTo = allowedReturn(Buffer.from(target, "base64url").toString());
  return { returnTo, canRestart: mark === "1", problem: signInProblems.find((known) => known === problem) ?? null };
}

function write(request: Request, headers: Headers, name: string, attempt: SignInAttempt): Headers {
  const attributes = name === failureName ? failureCookie : attemptCookie;
  headers.append("Set-Cookie", writeCookie(request, name, encode(attempt), attributes));
  return headers;
}

/**
 * The cookies of a sign-in that ends at `returnTo`. They end an attempt to connect. Of other attempts, they keep the
 * newest: browsers send the oldest first (RFC 6265, section 5.4).
 */
export function signInCookies(request: Request, { state, codeVerifier }: Attempt, returnTo: string | null): Headers {
  const headers = stateCookies(request, { ...cleared, oauth_state: state, oauth_verifier: codeVerifier });
  const failure = read(request, failureName);
  if (failure?.canRestart) write(request, headers, failureName, { ...failure, canRestart: false });
  const attempt = { returnTo, canRestart: !failure?.canRestart, problem: null };
  let size = `${nameOf(state)}=${encode(attempt)}`.length;
  for (const pair of sentPairs(request, /^oauth_attempt_[0-9a-f]{32}=/).reverse()) {
    size += pair.length;
    const ended = writeCookie(request, pair.split("=", 1).join(), "", { ...attemptCookie, maxAge: 0 });
    if (size > attemptBytes) headers.append("Set-Cookie", ended);
  }
  return write(request, headers, nameOf(state), attempt);
}

/** The attempt that a response belongs to; `null` if this browser did not start it, e.g. for a planted callback. */
export const findAttempt = (request: Request, state: string | null) => read(request, nameOf(state ?? ""));

/** The response has arrived: when the browser's history opens it again, it must not restart the attempt. */
export function clearedCookies(request: Request, state: string | null): Headers {
  const headers = stateCookies(request, cleared);
  const attempt = findAttempt(request, state);
  if (attempt?.canRestart) write(request, headers, nameOf(state ?? ""), { ...attempt, canRestart: false });
  return headers;
}

export function failAttempt(request: Request, headers: Headers, failed: Partial<SignInAttempt>): Response {
  const { returnTo = null, canRestart = false, problem = null } = failed;
  write(request, headers, failureName, { returnTo, canRestart: canRestart && problem === "stale", problem });
  return redirect("/login?notice=idp_failed", { headers });
}

/** The failure that `/login?notice=idp_failed` shows or retries; `null` on every other page. */
export const failureShown = (request: Request): SignInAttempt | null =>
  new URL(request.url).searchParams.get("notice") === "idp_failed" ? read(request, failureName) : null;

/** After a sign-in, the page of an earlier failure in the browser's history redirects to where that sign-in led. */
export function settleFailure(request: Request, headers: Headers, returnTo: string | null): void {
  const settled = { returnTo, canRestart: false, problem: "stale" } as const;
  if (read(request, failureName)) write(request, headers, failureName, settled);
}
