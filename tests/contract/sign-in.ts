import * as callback from "~/routes/auth.idp_.callback";
import { call, get, type Outcome } from "../support/route-calls";

export const code = "4/0A&b=c+d e%20f é𝄞";
export const state = "5".repeat(64);

/** The browser comes back from the provider's consent screen. */
export function comeBack(origin = "http://localhost:3000"): Promise<Outcome> {
  const answer = new URLSearchParams({ code, state });
  return call(callback.loader, get(`${origin}/auth/idp/callback?${answer}`, { cookie: `oauth_state=${state}` }));
}
