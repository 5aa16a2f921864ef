import { createHmac, randomBytes } from "node:crypto";

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

const derive = (secret: string, ...values: string[]) =>
  createHmac("sha256", secret).update(values.join(":")).digest("hex");

/** The name of the cookie that holds where this attempt ends. @param secret of the browser; empty over http */
export const attemptCookie = (ofState: string, secret = "") =>
  `oauth_attempt_${derive(secret, "attempt", ofState).slice(0, 32)}`;

/** A state that the browser with this secret has made; the secret is empty over http. */
export function ownState(kind: "sign_in" | "connect", secret = "", random = randomBytes(16).toString("hex")) {
  return random + derive(secret, kind, random).slice(0, 32);
}

/** The value of `oauth_connect` for this state and session. */
export const connectCookie = (ofState: string, sessionToken: string, secret = "") =>
  derive(secret, "connection", ofState, sessionToken);

/** The cookie that tells the login page of a failure. */
export const failureCookie = (problem: string, returnTo = "", canRestart = 0) =>
  `idp_failure=${canRestart}.${Buffer.from(returnTo).toString("base64url")}.${problem}; HttpOnly; Max-Age=600; Path=/; SameSite=Lax`;
