import { sha256 } from "./sha256";

export interface SetCookie {
  name: string;
  value: string;
  expired: boolean;
}

export function setCookieOf(line: string): SetCookie {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  const maxAge = /; *Max-Age=(-?\d+)/i.exec(line)?.[1];
  const expires = /; *Expires=([^;]+)/i.exec(line)?.[1];
  const expired =
    maxAge !== undefined ? Number(maxAge) <= 0 : expires !== undefined && Date.parse(expires) <= Date.now();
  return { name, value, expired };
}

/** The name of the cookie that holds where this attempt ends. */
export const attemptCookie = (ofState: string) => `oauth_attempt_${sha256(ofState).slice(0, 32)}`;

/** The cookie that tells the login page of a failure. */
export const failureCookie = (problem: string, returnTo = "", canRestart = 0) =>
  `idp_failure=${canRestart}.${Buffer.from(returnTo).toString("base64url")}.${problem}; HttpOnly; Max-Age=600; Path=/; SameSite=Lax`;
