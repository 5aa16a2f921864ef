import type { Environment } from "#server/config";
import type { Profile } from "#server/provider/providers";
import type { ProviderName } from "#server/settings/provider-names";

export interface Step {
  name: "discovery" | "token" | "profile" | "emails";
  method: "GET" | "POST";
  url: string;
  answer: Record<string, unknown> | Record<string, unknown>[];
}

export interface ProviderCase {
  settings: Environment;
  consentUrl: string;
  scope: string;
  /** What asks for another account. */
  prompts: string[];
  steps: Step[];
  profile: Profile;
  idField: string;
}

export const clientId = "client&id=1+2 %3D é";
export const clientSecret = "s&=+ %25ü€𝄞";
export const accessToken = "an-access~token./+=";

const credentials = (provider: ProviderName) => ({
  IDP_PROVIDER: provider,
  IDP_CLIENT_ID: clientId,
  IDP_CLIENT_SECRET: clientSecret,
});

const step = (name: Step["name"], url: string, answer: Step["answer"]): Step => ({
  name,
  method: name === "token" ? "POST" : "GET",
  url,
  answer,
});

const bearer = { access_token: accessToken, token_type: "Bearer", expires_in: 3599, scope: "openid" };

function openIdProvider(
  name: ProviderName,
  consentUrl: string,
  tokenUrl: string,
  profileUrl: string,
  prompts = ["select_account"],
) {
  return (): ProviderCase => ({
    settings: credentials(name),
    consentUrl,
    scope: "openid email profile",
    prompts,
    steps: [
      step("token", tokenUrl, bearer),
      step("profile", profileUrl, {
        sub: "110169484474386276334",
        name: "Ada Lovelace",
        given_name: "Ada",
        picture: "https://images.example/a/ada=s96-c?x=1&y=%20",
        email: "Ada@Example.com",
        email_verified: true,
      }),
    ],
    profile: {
      email: "Ada@Example.com",
      emailVerified: true,
      id: "110169484474386276334",
      name: "Ada Lovelace",
      pictureUrl: "https://images.example/a/ada=s96-c?x=1&y=%20",
    },
    idField: "sub",
  });
}

const github = (): ProviderCase => ({
  settings: credentials("github"),
  consentUrl: "https://github.com/login/oauth/authorize",
  scope: "read:user user:email",
  prompts: ["select_account"],
  steps: [
    step("token", "https://github.com/login/oauth/access_token", {
      access_token: accessToken,
      scope: "read:user,user:email",
      token_type: "bearer",
    }),
    step("profile", "https://api.github.com/user", {
      login: "ada",
      id: 583231,
      node_id: "MDQ6VXNlcjU4MzIzMQ==",
      avatar_url: "https://avatars.example/u/583231?v=4",
      type: "User",
      name: null,
      email: "public@example.com",
    }),
    step("emails", "https://api.github.com/user/emails", [
      { email: "other@example.com", verified: true, primary: false, visibility: null },
      { email: "ada@example.com", verified: true, primary: true, visibility: "private" },
    ]),
  ],
  profile: {
    email: "ada@example.com",
    emailVerified: true,
    id: "583231",
    name: "ada",
    pictureUrl: "https://avatars.example/u/583231?v=4",
  },
  idField: "id",
});

const discord = (): ProviderCase => ({
  settings: credentials("discord"),
  consentUrl: "https://discord.com/oauth2/authorize",
  scope: "identify email",
  prompts: [],
  steps: [
    step("token", "https://discord.com/api/oauth2/token", {
      ...bearer,
      expires_in: 604800,
      scope: "identify email",
    }),
    step("profile", "https://discord.com/api/users/@me", {
      id: "80351110224678912",
      username: "ada",
      discriminator: "0",
      global_name: "Ada Lovelace",
      avatar: "a_8342729096ea3675442027381ff50dfe",
      verified: true,
      email: "ada@example.com",
    }),
  ],
  profile: {
    email: "ada@example.com",
    emailVerified: true,
    id: "80351110224678912",
    name: "Ada Lovelace",
    pictureUrl: "https://cdn.discordapp.com/avatars/80351110224678912/a_8342729096ea3675442027381ff50dfe.png",
  },
  idField: "id",
});

export function withAnswer(provider: ProviderCase, name: Step["name"], changed: Step["answer"]): ProviderCase {
  const steps = provider.steps.map((step) => {
    if (step.name !== name) return step;
    return { ...step, answer: Array.isArray(changed) ? changed : { ...step.answer, ...changed } };
  });
  return { ...provider, steps };
}

/** A new issuer for each call, because discovery documents are cached by issuer. */
export function oidc(): ProviderCase {
  const issuer = `https://${crypto.randomUUID()}.example/tenant`;
  const like = providerCases.google();
  const [token, profile] = like.steps as [Step, Step];
  return {
    ...like,
    settings: { ...credentials("oidc"), IDP_ISSUER: issuer },
    consentUrl: `${issuer}/authorize`,
    steps: [
      step("discovery", `${issuer}/.well-known/openid-configuration`, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
      }),
      { ...token, url: `${issuer}/token` },
      { ...profile, url: `${issuer}/me` },
    ],
  };
}

export const providerCases = {
  google: openIdProvider(
    "google",
    "https://accounts.google.com/o/oauth2/v2/auth",
    "https://oauth2.googleapis.com/token",
    "https://openidconnect.googleapis.com/v1/userinfo",
  ),
  github,
  gitlab: openIdProvider(
    "gitlab",
    "https://gitlab.com/oauth/authorize",
    "https://gitlab.com/oauth/token",
    "https://gitlab.com/oauth/userinfo",
    ["login"],
  ),
  discord,
  oidc,
} satisfies Record<ProviderName, () => ProviderCase>;

export const providerNames = Object.keys(providerCases) as ProviderName[];
