import { redirect } from "@remix-run/node";
import { type SignInProblem, signInProblems } from "#server/features/visitor/external-sign-in";
import { parseMaxAge } from "#server/rules";
import { allowedReturn } from "~/answers/responses";
import { readCookie, writeCookie } from "./cookies";

/** A sign-in at the provider: where it leads, and why it failed. */
export interface SignInAttempt {
  returnTo: string | null;
  /** How old the sign-in may be, in seconds. */
  maxAge: number | null;
  /** Whether a stale response may restart it. That is allowed once, to prevent a loop. */
  canRestart: boolean;
  /** `null` for an attempt that has not failed. */
  problem: SignInProblem | null;
}

export const encodeAttempt = ({ returnTo, maxAge, canRestart, problem }: SignInAttempt) =>
  [canRestart ? 1 : 0, Buffer.from(returnTo ?? "").toString("base64url"), problem, ...(maxAge ? [maxAge] : [])].join(
    ".",
  );

/** A sibling host may have planted the cookie, so its target must be allowed. */
export function readAttempt(request: Request, name: string): SignInAttempt | null {
  const parts = /^([01])\.([\w-]*)\.(\w*)(?:\.(\d+))?$/.exec(readCookie(request, name) ?? "");
  if (!parts) return null;
  const [, mark, target = "", sent, maxAge = ""] = parts;
  const returnTo = allowedReturn(Buffer.from(target, "base64url").toString());
  const problem = signInProblems.find((known) => known === sent) ?? null;
  return { returnTo, maxAge: parseMaxAge(maxAge), canRestart: mark === "1", problem };
}

const name = "idp_failure";

const write = (request: Request, headers: Headers, failure: SignInAttempt): void =>
  headers.append(
    "Set-Cookie",
    writeCookie(request, name, encodeAttempt(failure), { path: "/", maxAge: 600 }), // the page's data come from /login.data
  );

export function failSignIn(request: Request, headers: Headers, failed: Partial<SignInAttempt>): Response {
  const { returnTo = null, maxAge = null, canRestart = false, problem = null } = failed;
  write(request, headers, { returnTo, maxAge, canRestart: canRestart && problem === "stale", problem });
  return redirect("/login?notice=idp_failed", { headers });
}

/** The failure that `/login?notice=idp_failed` shows or retries; `null` on every other page. */
export const failureShown = (request: Request): SignInAttempt | null =>
  new URL(request.url).searchParams.get("notice") === "idp_failed" ? readAttempt(request, name) : null;

/** @returns whether the attempt that starts now restarts one that failed */
export function startsAgain(request: Request, headers: Headers): boolean {
  const failure = readAttempt(request, name);
  if (failure?.canRestart) write(request, headers, { ...failure, canRestart: false });
  return failure?.canRestart ?? false;
}

/** After a sign-in, the page of an earlier failure in the browser's history redirects to where that sign-in led. */
export function settleFailure(request: Request, headers: Headers, returnTo: string | null): void {
  const settled = { returnTo, maxAge: null, canRestart: false, problem: "stale" } as const;
  if (readAttempt(request, name)) write(request, headers, settled);
}
