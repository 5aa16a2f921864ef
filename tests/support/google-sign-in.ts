import nock from "nock";
import * as callback from "~/routes/auth.idp_.callback";
import { call, get, type Outcome, type RequestOptions } from "./route-calls";

export const google = { IDP_CLIENT_ID: "the-client", IDP_CLIENT_SECRET: "the-secret" };

export function googleAnswers(profile: object, times = 1): void {
  const token = { access_token: "at", token_type: "Bearer" };
  nock("https://oauth2.googleapis.com").post("/token").times(times).reply(200, token);
  nock("https://openidconnect.googleapis.com").get("/v1/userinfo").times(times).reply(200, profile);
}

/** The discovery document of an OpenID Connect provider is asked for once. */
export function discovers(issuer: string, members: object = {}, status = 200): void {
  const required = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
  };
  nock(issuer)
    .get("/.well-known/openid-configuration")
    .reply(status, { ...required, ...members });
}

export const state = "cd".repeat(32);

/** Opens the callback, by default in a browser that has left with this state. */
export const comeBack = (
  query: Record<string, string> = { code: "the-code", state },
  cookie = `oauth_state=${state}`,
  options: RequestOptions = {},
) => call(callback.loader, get(`/auth/idp/callback?${new URLSearchParams(query)}`, { cookie, ...options }));

export function signInWithGoogle(profile: object, session = ""): Promise<Outcome> {
  googleAnswers(profile);
  return comeBack(undefined, `${session}; oauth_state=${state}`);
}
