import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { redirect } from "@remix-run/node";
import { config } from "#server/config";
import { factsOf, originOf } from "#server/door/request-facts";
import { type SignInProblem, signInProblemIn } from "#server/events/sign-in-failures";
import { allowedTarget } from "#server/origins/return-to";
import type { Attempt } from "#server/provider/client";
import { parseMaxAge } from "#server/rules";
import {
  isHttps,
  oauthCookie,
  readCookie,
  readCookies,
  sentPairs,
  sessionToken,
  writeCookie,
  writeNotice,
} from "./cookies";
import { accountWith, loginWith, noticeOf } from "./notices";

export const attemptLifetime = 600; // seconds

/** Against a callback that a script opens unseen: `fetch` sends another mode, and Remix's request for data `.data`. */
export const isNavigation = (request: Request): boolean =>
  (request.headers.get("Sec-Fetch-Mode") ?? "navigate") === "navigate" && !factsOf(request).path.endsWith(".data");

type Kind = "sign_in" | "connect";

type OwnAttempt = Attempt & { secret: string };

export function newAttempt(request: Request, kind: Kind): OwnAttempt {
  const secret = secretOf(request);
  const state = signed(secret, kind, randomBytes(16).toString("hex"));
  return { redirectUri: redirectUri(request), state, codeVerifier: codeVerifierOf(request, state, secret), secret };
}

export const redirectUri = (request: Request) => `${originOf(request)}/auth/idp/callback`;

/** RFC 7636, section 4.1. */
export const codeVerifierOf = (request: Request, state: string, secret = secretOf(request)): string =>
  derive(secret, "verifier", state);

/** Whether the response's `state` is the one of this browser, compared in constant time. */
export const isOwnState = (request: Request, state: string | null): state is string =>
  state !== null &&
  readCookies(request, "oauth_state").some((sent) => equals(sent, state)) &&
  (!isHttps(request) || isSigned(request, "sign_in", state) || isSigned(request, "connect", state));

/** Whether the newest attempt is one to connect. */
export const isConnecting = (request: Request): boolean =>
  readCookies(request, "oauth_state").some((state) => isSigned(request, "connect", state));

const isSigned = (request: Request, kind: Kind, state: string): boolean =>
  equals(signed(secretOf(request), kind, state.slice(0, 32)), state);

/** A random number, signed for this browser (RFC 6749, section 10.12). */
const signed = (secret: string, kind: Kind, random: string) => random + derive(secret, kind, random).slice(0, 32);

/** Whether this browser's session started the attempt to connect. */
export const isOwnConnection = (request: Request, state: string): boolean =>
  readCookies(request, "oauth_connect").some((sent) => equals(connection(request, state), sent));

function equals(own: string, sent: string): boolean {
  const [left, right] = [Buffer.from(own), Buffer.from(sent)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function connectCookies(request: Request, attempt: OwnAttempt): Headers {
  const headers = attemptCookies(request, attempt);
  const binding = connection(request, attempt.state, attempt.secret);
  headers.append("Set-Cookie", stateCookie(request, "oauth_connect", binding));
  return headers;
}

const connection = (request: Request, state: string, secret = secretOf(request)) =>
  derive(secret, "connection", state, sessionToken(request) ?? "");

/** A sign-in at the provider: where it leads, and why it failed. */
interface SignInAttempt {
  returnTo: string | null;
  /** How old the sign-in may be, in seconds. */
  maxAge: number | null;
  /** Whether a stale response may restart it. That is allowed once, to prevent a loop. */
  canRestart: boolean;
  /** `null` for an attempt that has not failed. */
  problem: SignInProblem | null;
}

export function failSignIn(request: Request, headers: Headers, failed: Partial<SignInAttempt>): Response {
  const { returnTo = null, maxAge = null, canRestart = false, problem = null } = failed;
  writeFailure(request, headers, { returnTo, maxAge, canRestart: canRestart && problem === "stale", problem });
  return redirect(loginWith("idp_failed"), { headers });
}

export function failConnection(request: Request, headers: Headers, problem: SignInProblem | null): Response {
  if (problem) headers.append("Set-Cookie", writeNotice(request, { problem }));
  return redirect(accountWith("idp_failed"), { headers });
}

const failureName = "idp_failure";

/** The failure that `/login?notice=idp_failed` shows or retries; `null` on every other page. */
export const failureShown = (request: Request): SignInAttempt | null =>
  noticeOf(request) === "idp_failed" ? readAttempt(request, failureName) : null;

/** For every sign-in: if one at the provider failed before, going back to its page leads to `returnTo`. */
export function settleFailure(request: Request, headers: Headers, returnTo: string | null): void {
  const settled = { returnTo, maxAge: null, canRestart: false, problem: "stale" } as const;
  if (readAttempt(request, failureName)) writeFailure(request, headers, settled);
}

const attemptCookie = { path: "/auth/idp", maxAge: 3_600 }; // longer than the state's: a late response still has one
const attemptBytes = 6_000; // of all attempts: Node.js refuses a request with 16 KiB of headers

/**
 * The cookies of a sign-in that ends at the target. Of other attempts, they keep the newest: browsers send the oldest
 * first (RFC 6265, section 5.4).
 */
export function signInCookies(
  request: Request,
  attempt: OwnAttempt,
  target: Pick<SignInAttempt, "returnTo" | "maxAge">,
): Headers {
  const headers = attemptCookies(request, attempt);
  const started = { ...target, canRestart: !takeRestart(request, headers), problem: null };
  const name = nameOf(request, attempt.state, attempt.secret);
  let size = `${name}=${encodeAttempt(started)}`.length;
  for (const pair of sentPairs(request, /^oauth_attempt_[0-9a-f]{32}=/).reverse()) {
    size += pair.length;
    const ended = writeCookie(request, pair.split("=", 1).join(), "", { ...attemptCookie, maxAge: 0 });
    if (size > attemptBytes) headers.append("Set-Cookie", ended);
  }
  write(request, headers, name, started);
  return headers;
}

function attemptCookies(request: Request, { state, secret }: OwnAttempt): Headers {
  const headers = new Headers({ "Set-Cookie": stateCookie(request, "oauth_state", state) });
  if (isHttps(request)) headers.append("Set-Cookie", oauthCookie.write(request, secret));
  return headers;
}

/** A failed attempt may be restarted once. @returns whether the attempt that starts now is such a restart */
function takeRestart(request: Request, headers: Headers): boolean {
  const failure = readAttempt(request, failureName);
  if (failure?.canRestart) writeFailure(request, headers, { ...failure, canRestart: false });
  return failure?.canRestart ?? false;
}

const failureCookie = { path: "/", maxAge: 600 }; // the page's data come from /login.data

const writeFailure = (request: Request, headers: Headers, failure: SignInAttempt): void =>
  headers.append("Set-Cookie", writeCookie(request, failureName, encodeAttempt(failure), failureCookie));

/** The cookies that end the attempt of a response: opened again from the browser's history, it restarts nothing. */
export function clearedCookies(request: Request, state: string | null): Headers {
  const headers = new Headers({ "Set-Cookie": stateCookie(request, "oauth_state", "") });
  if (readCookies(request, "oauth_connect").length > 0)
    headers.append("Set-Cookie", stateCookie(request, "oauth_connect", ""));
  const attempt = findAttempt(request, state);
  if (attempt?.canRestart) write(request, headers, nameOf(request, state ?? ""), { ...attempt, canRestart: false });
  return headers;
}

const stateCookie = (request: Request, name: string, value: string) =>
  writeCookie(request, name, value, { path: "/auth/idp", maxAge: value ? attemptLifetime : 0 });

/** The attempt that a response belongs to; `null` if this browser did not start it, e.g. for a planted callback. */
export const findAttempt = (request: Request, state: string | null) =>
  readAttempt(request, nameOf(request, state ?? ""));

/** A sibling host may have planted the cookie, so its target must be allowed. */
function readAttempt(request: Request, name: string): SignInAttempt | null {
  const parts = /^([01])\.([\w-]*)\.(\w*)(?:\.(\d+))?$/.exec(readCookie(request, name) ?? "");
  if (!parts) return null;
  const [, mark, target = "", sent, maxAge = ""] = parts;
  const returnTo = allowedTarget(Buffer.from(target, "base64url").toString(), config());
  return { returnTo, maxAge: parseMaxAge(maxAge), canRestart: mark === "1", problem: signInProblemIn(sent) };
}

const nameOf = (request: Request, state: string, secret = secretOf(request)) =>
  `oauth_attempt_${derive(secret, "attempt", state).slice(0, 32)}`;

/**
 * On https, a cookie that no sibling host can set; without it a new secret, which fits no cookie. Empty over http:
 * whoever is on the way can set every cookie, and `oauth_state` alone decides.
 */
const secretOf = (request: Request): string =>
  isHttps(request) ? (oauthCookie.read(request) ?? randomBytes(32).toString("hex")) : "";

const derive = (secret: string, ...values: string[]): string =>
  createHmac("sha256", secret).update(values.join(":")).digest("hex");

const write = (request: Request, headers: Headers, name: string, attempt: SignInAttempt): void =>
  headers.append("Set-Cookie", writeCookie(request, name, encodeAttempt(attempt), attemptCookie));

const encodeAttempt = ({ returnTo, maxAge, canRestart, problem }: SignInAttempt) =>
  [canRestart ? 1 : 0, Buffer.from(returnTo ?? "").toString("base64url"), problem, ...(maxAge ? [maxAge] : [])].join(
    ".",
  );
