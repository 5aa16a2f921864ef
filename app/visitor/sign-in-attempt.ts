import { createHash } from "node:crypto";
import { redirect } from "@remix-run/node";
import { type SignInProblem, signInProblems } from "#server/features/visitor/external-sign-in";
import { allowedReturn } from "~/answers/responses";
import { readCookie, sentPairs, writeCookie } from "./cookies";

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

/** Keeps the newest attempts: browsers send the oldest first (RFC 6265, section 5.4). */
export function startAttempt(request: Request, headers: Headers, state: string, returnTo: string | null): Headers {
  const failure = read(request, failureName);
  if (failure?.canRestart) write(request, headers, failureName, { ...failure, canRestart: false });
  const attempt = { returnTo, canRestart: !failure?.canRestart, problem: null };
  let size = `${nameOf(state)}=${encode(attempt)}`.length;
  for (const pair of sentPairs(request, /^oauth_attempt_[0-9a-f]{32}=/).reverse()) {
    size += pair.length;
    const cleared = writeCookie(request, pair.split("=", 1).join(), "", { ...attemptCookie, maxAge: 0 });
    if (size > attemptBytes) headers.append("Set-Cookie", cleared);
  }
  return write(request, headers, nameOf(state), attempt);
}

/** The attempt that a response belongs to; `null` if this browser did not start it, e.g. for a planted callback. */
export const findAttempt = (request: Request, state: string | null) => read(request, nameOf(state ?? ""));

/** The response has arrived: when the browser's history opens it again, it must not restart the attempt. */
export function endAttempt(request: Request, headers: Headers, state: string | null): Headers {
  const attempt = findAttempt(request, state);
  return attempt?.canRestart
    ? write(request, headers, nameOf(state ?? ""), { ...attempt, canRestart: false })
    : headers;
}

type Failed = Partial<SignInAttempt> & Pick<SignInAttempt, "problem">;

export function failAttempt(request: Request, headers: Headers, { returnTo = null, canRestart, problem }: Failed) {
  write(request, headers, failureName, { returnTo, canRestart: canRestart === true && problem === "stale", problem });
  return redirect("/login?notice=idp_failed", { headers });
}

/** The failure that `/login?notice=idp_failed` shows or retries; `null` on every other page. */
export const failureShown = (request: Request): SignInAttempt | null =>
  new URL(request.url).searchParams.get("notice") === "idp_failed" ? read(request, failureName) : null;

/** After a sign-in, the page of an earlier failure in the browser's history redirects to where that sign-in led. */
export const settleFailure = (request: Request, headers: Headers, returnTo: string | null): Headers =>
  read(request, failureName)
    ? write(request, headers, failureName, { returnTo, canRestart: false, problem: "stale" })
    : headers;
