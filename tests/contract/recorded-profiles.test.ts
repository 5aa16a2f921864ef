import nock from "nock";
import { expect, test } from "vitest";
import { comeBack, google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";

// What OpenID Providers send of one person, in the form of their documentation.

const latchkey = startLatchkey(google);

const email = "ada@example.com";
const name = { name: "Ada Lovelace", given_name: "Ada", family_name: "Lovelace" };

const entra = { sub: "OLu859SGc2Sr9ZsqbkG-QbeLgJlb41KcdiPoLYNpSFA", ...name, email };

const recorded: [provider: string, statesVerified: boolean, claims: { sub: string; [claim: string]: unknown }][] = [
  // https://learn.microsoft.com/entra/identity-platform/userinfo#userinfo-response
  ["Entra ID", false, entra],
  // https://docs.goauthentik.io/add-secure-apps/providers/oauth2/verify-email-address/
  ["authentik", false, { sub: "3c9ba9d1", ...name, nickname: "ada", groups: [], email, email_verified: false }],
  // https://www.keycloak.org/docs/latest/server_admin/#_client_scopes_protocol
  ["Keycloak", true, { sub: "a5461470-33eb", email_verified: true, ...name, preferred_username: "ada", email }],
  // https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html
  ["Amazon Cognito", true, { sub: "248289761001", email_verified: "true", ...name, username: "ada", email }],
  // https://developer.okta.com/docs/api/openapi/okta-oauth/oauth/tag/OrgAS/#tag/OrgAS/operation/userinfo
  ["Okta", true, { sub: "00uid4BxXw6I6TV4m0g3", ...name, updated_at: 1311280970, email, email_verified: true }],
  // https://zitadel.com/docs/apis/openidoauth/endpoints#userinfo_endpoint
  ["ZITADEL", true, { sub: "69234237810729019", ...name, locale: "en", email, email_verified: true }],
  // https://www.authelia.com/integration/openid-connect/openid-connect-1.0-claims/
  ["Authelia", true, { sub: "d0d9bd2e-5ee7", ...name, alt_emails: [], email, email_verified: true, groups: [] }],
  // https://pocket-id.org/docs/client-examples
  ["Pocket ID", true, { sub: "1c9b0a52-4e57", ...name, preferred_username: "ada", email, email_verified: true }],
];

const users = () => latchkey.execute("select email, idp_id from users");

function signIn(claims: object, trust: boolean) {
  const issuer = "https://sso.example";
  latchkey.configure({
    IDP_PROVIDER: "oidc",
    IDP_ISSUER: issuer,
    IDP_AUTHORIZE_URL: `${issuer}/authorize`,
    IDP_TOKEN_URL: `${issuer}/token`,
    IDP_PROFILE_URL: `${issuer}/userinfo`,
    IDP_TRUST_EMAIL: String(trust),
  });
  nock(issuer).post("/token").reply(200, { access_token: "at", token_type: "Bearer", expires_in: 3600 });
  nock(issuer).get("/userinfo").reply(200, claims);
  return comeBack();
}

const failed = { location: "/login?notice=idp_failed", cookies: { idp_failure: "0..unverified" } };
const signedIn = { location: "/dashboard", cookies: { session: expect.stringMatching(/^[0-9a-f]{64}$/) } };

test.each(recorded.flatMap(([provider, ...more]) => [false, true].map((trust) => [provider, trust, ...more] as const)))(
  "%s with IDP_TRUST_EMAIL=%s: a new person needs a verified address",
  async (_provider, trust, statesVerified, claims) => {
    const isAccepted = statesVerified || trust;
    expect(await signIn(claims, trust)).toMatchObject(isAccepted ? signedIn : failed);
    expect(await users()).toEqual(isAccepted ? [{ email, idp_id: claims.sub }] : []);
  },
);

test.each([false, true])("with IDP_TRUST_EMAIL=%s an account of that address is linked or not", async (trust) => {
  await latchkey.createUser({ email });
  expect(await signIn(entra, trust)).toMatchObject(trust ? signedIn : failed);
  expect(await users()).toEqual([{ email, idp_id: trust ? entra.sub : null }]);
});
