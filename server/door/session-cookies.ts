import { config } from "../config";

/** The session's cookie, and the one with which a bound session counts. */
export function sessionCookieName(https: boolean, name: "session" | "bound" = "session"): string {
  if (!https) return name;
  return `${config().sessionDomain === null ? "__Host-" : "__Secure-"}${name}`;
}

/** Browsers compare them with those of the binding's instructions. */
export function boundCookieAttributes(https: boolean): string {
  const { sessionDomain } = config();
  const secure = sessionDomain === null ? "; Secure" : `; Secure; Domain=${sessionDomain}`;
  return `Path=/; HttpOnly; SameSite=Lax${https ? secure : ""}`;
}
