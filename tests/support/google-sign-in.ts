import nock from "nock";
import * as callback from "~/routes/auth.idp_.callback";
import { call, get, type Outcome } from "./route-calls";

export const google = { IDP_CLIENT_ID: "the-client", IDP_CLIENT_SECRET: "the-secret" };

export function googleAnswers(profile: object, times = 1): void {
  const token = { access_token: "at", token_type: "Bearer" };
  nock("https://oauth2.googleapis.com").post("/token").times(times).reply(200, token);
  nock("https://openidconnect.googleapis.com").get("/v1/userinfo").times(times).reply(200, profile);
}

export const state = "cd".repeat(32);

export const comeBack = (
  query: Record<string, string> = { code: "the-code", state },
  cookie = `oauth_state=${state}`,
  headers?: Record<string, string>,
) => call(callback.loader, get(`/auth/idp/callback?${new URLSearchParams(query)}`, { cookie, headers }));

export function signInWithGoogle(profile: object, session = ""): Promise<Outcome> {
  googleAnswers(profile);
  return comeBack(undefined, `${session}; oauth_state=${state}`);
}
