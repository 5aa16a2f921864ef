import nock from "nock";
import { describe, expect, test } from "vitest";
import type { Environment } from "#server/config";
import { comeBack, google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";

// What twelve providers send of one person, in the form of their documentation.

const latchkey = startLatchkey(google);

interface RecordedProfile {
  /** Where the form is documented. */
  source: string;
  settings: Environment;
  tokenUrl: string;
  /** Each call after the token's, and its answer. */
  answers: [url: string, answer: object][];
  id: string;
  /** Whether the provider itself states that the address is verified. */
  verified: boolean;
}

const email = "ada@example.com";
const name = { name: "Ada Lovelace", given_name: "Ada", family_name: "Lovelace" };

function oidc(
  issuer: string,
  source: string,
  claims: { sub: string; [claim: string]: unknown },
  verified = true,
): RecordedProfile {
  return {
    source,
    settings: {
      IDP_PROVIDER: "oidc",
      IDP_ISSUER: issuer,
      IDP_AUTHORIZE_URL: `${issuer}/authorize`,
      IDP_TOKEN_URL: `${issuer}/token`,
      IDP_PROFILE_URL: `${issuer}/userinfo`,
    },
    tokenUrl: `${issuer}/token`,
    answers: [[`${issuer}/userinfo`, claims]],
    id: claims.sub,
    verified,
  };
}

const profiles: Record<string, RecordedProfile> = {
  Google: {
    source: "https://developers.google.com/identity/openid-connect/openid-connect#obtaininguserprofileinformation",
    settings: { IDP_PROVIDER: "google" },
    tokenUrl: "https://oauth2.googleapis.com/token",
    answers: [
      [
        "https://openidconnect.googleapis.com/v1/userinfo",
        {
          sub: "110169484474386276334",
          ...name,
          picture: "https://lh3.example/a/x=s96-c",
          email,
          email_verified: true,
        },
      ],
    ],
    id: "110169484474386276334",
    verified: true,
  },
  GitHub: {
    source: "https://docs.github.com/rest/users/emails",
    settings: { IDP_PROVIDER: "github" },
    tokenUrl: "https://github.com/login/oauth/access_token",
    answers: [
      ["https://api.github.com/user", { login: "ada", id: 583231, name: "Ada Lovelace", email: null, type: "User" }],
      ["https://api.github.com/user/emails", [{ email, verified: true, primary: true, visibility: "private" }]],
    ],
    id: "583231",
    verified: true,
  },
  GitLab: {
    source: "https://docs.gitlab.com/integration/openid_connect_provider/#claims-information",
    settings: { IDP_PROVIDER: "gitlab" },
    tokenUrl: "https://gitlab.com/oauth/token",
    answers: [
      [
        "https://gitlab.com/oauth/userinfo",
        { sub: "4201", name: "Ada Lovelace", nickname: "ada", preferred_username: "ada", email, email_verified: true },
      ],
    ],
    id: "4201",
    verified: true,
  },
  Discord: {
    source: "https://discord.com/developers/docs/resources/user#user-object",
    settings: { IDP_PROVIDER: "discord" },
    tokenUrl: "https://discord.com/api/oauth2/token",
    answers: [
      [
        "https://discord.com/api/users/@me",
        { id: "80351110224678912", username: "ada", global_name: "Ada", avatar: null, verified: true, email },
      ],
    ],
    id: "80351110224678912",
    verified: true,
  },
  "Entra ID": oidc(
    "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",
    "https://learn.microsoft.com/entra/identity-platform/userinfo#userinfo-response",
    { sub: "OLu859SGc2Sr9ZsqbkG-QbeLgJlb41KcdiPoLYNpSFA", ...name, email },
    false,
  ),
  authentik: oidc(
    "https://authentik.example/application/o/latchkey",
    "https://docs.goauthentik.io/add-secure-apps/providers/oauth2/verify-email-address/",
    { sub: "3c9ba9d1", ...name, nickname: "ada", preferred_username: "ada", groups: [], email, email_verified: false },
    false,
  ),
  Keycloak: oidc(
    "https://keycloak.example/realms/work",
    "https://www.keycloak.org/docs/latest/server_admin/#_client_scopes_protocol",
    { sub: "a5461470-33eb-4b2d-82d4-b0484e96ad7f", email_verified: true, ...name, preferred_username: "ada", email },
  ),
  "Amazon Cognito": oidc(
    "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_example",
    "https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html",
    { sub: "248289761001", email_verified: "true", ...name, preferred_username: "ada", username: "ada", email },
  ),
  Okta: oidc(
    "https://example.okta.com",
    "https://developer.okta.com/docs/api/openapi/okta-oauth/oauth/tag/OrgAS/#tag/OrgAS/operation/userinfo",
    { sub: "00uid4BxXw6I6TV4m0g3", ...name, zoneinfo: "UTC", updated_at: 1311280970, email, email_verified: true },
  ),
  ZITADEL: oidc(
    "https://example.zitadel.cloud",
    "https://zitadel.com/docs/apis/openidoauth/endpoints#userinfo_endpoint",
    { sub: "69234237810729019", ...name, locale: "en", updated_at: 1712320000, email, email_verified: true },
  ),
  Authelia: oidc(
    "https://auth.example",
    "https://www.authelia.com/integration/openid-connect/openid-connect-1.0-claims/",
    { sub: "d0d9bd2e-5ee7-4b0c-9b8f-2a7d1f5a3a11", ...name, alt_emails: [], email, email_verified: true, groups: [] },
  ),
  "Pocket ID": oidc("https://pocket-id.example", "https://pocket-id.org/docs/client-examples", {
    sub: "1c9b0a52-4e57-4f6e-a1ef-0a4c7c3f6ad1",
    ...name,
    preferred_username: "ada",
    email,
    email_verified: true,
  }),
};

function answer({ tokenUrl, answers }: RecordedProfile): void {
  const at = (url: string) => [nock(new URL(url).origin), new URL(url).pathname] as const;
  const [tokens, tokenPath] = at(tokenUrl);
  tokens.post(tokenPath).reply(200, { access_token: "at", token_type: "Bearer", expires_in: 3600 });
  for (const [url, body] of answers) {
    const [scope, path] = at(url);
    scope.get(path).reply(200, body);
  }
}

const cases = Object.entries(profiles).flatMap(([provider, recorded]) => {
  const trusting = recorded.settings.IDP_PROVIDER === "oidc" ? [false, true] : [false];
  return trusting.map((trust) => ({ provider, trust, recorded, accepted: recorded.verified || trust }));
});

const users = () => latchkey.execute("select email, idp_id from users order by email");

describe.each(cases)("$provider, with IDP_TRUST_EMAIL=$trust", ({ recorded, trust, accepted }) => {
  const signIn = () => {
    latchkey.configure({ ...recorded.settings, IDP_TRUST_EMAIL: String(trust) });
    answer(recorded);
    return comeBack();
  };
  const failed = { location: "/login?notice=idp_failed", cookies: { idp_failure: "0..unverified" } };
  const signedIn = { location: "/dashboard", cookies: { session: expect.stringMatching(/^[0-9a-f]{64}$/) } };
  const linked = [{ email, idp_id: recorded.id }];

  test("a new person gets an account with a verified address only", async () => {
    expect(await signIn()).toMatchObject(accepted ? signedIn : failed);
    expect(await users()).toEqual(accepted ? linked : []);
  });

  test("a returning person is signed in, whatever the address", async () => {
    const issuer = recorded.settings.IDP_ISSUER ?? recorded.settings.IDP_PROVIDER;
    await latchkey.createUser({ email: "another@example.com", idpId: recorded.id });
    await latchkey.execute("update users set idp_issuer = ?", [issuer]);
    expect(await signIn()).toMatchObject(signedIn);
    expect(await users()).toEqual([{ email: "another@example.com", idp_id: recorded.id }]);
  });

  test("an account of that address is linked with a verified address only", async () => {
    await latchkey.createUser({ email });
    expect(await signIn()).toMatchObject(accepted ? signedIn : failed);
    expect(await users()).toEqual(accepted ? linked : [{ email, idp_id: null }]);
  });
});
