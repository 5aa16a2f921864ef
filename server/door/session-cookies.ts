import { config } from "../config";
import type { RequestFacts } from "../process/context";
import { cookieOf } from "./request-facts";

/** Of a request that is answered before Remix. */
export const sessionCookieIn = (facts: RequestFacts, name?: "bound"): string | null =>
  cookieOf(facts.response.req.headers.cookie ?? "", sessionCookieName(isOverHttps(facts), name));

/** The session's cookie, and the one with which a bound session counts. */
export function sessionCookieName(https: boolean, name: "session" | "bound" = "session"): string {
  if (!https) return name;
  return `${config().sessionDomain === null ? "__Host-" : "__Secure-"}${name}`;
}

export const isOverHttps = ({ origin }: RequestFacts) => origin.startsWith("https:");

/** Browsers compare them with those of the binding's instructions. */
export function boundCookieAttributes(https: boolean): string {
  const { sessionDomain } = config();
  const secure = sessionDomain === null ? "; Secure" : `; Secure; Domain=${sessionDomain}`;
  return `Path=/; HttpOnly; SameSite=Lax${https ? secure : ""}`;
}
