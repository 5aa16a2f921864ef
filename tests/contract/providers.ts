import type { Environment } from "#server/config";
import type { Profile } from "#server/provider/providers";
import type { ProviderName } from "#server/settings/provider-names";

export interface Step {
  name: "discovery" | "token" | "profile" | "emails";
  method: "GET" | "POST";
  url: string;
  answer: object;
}

export interface ProviderCase {
  settings: Environment;
  consentUrl: string;
  scope: string;
  /** What asks for another account. */
  prompts: string[];
  steps: Step[];
  profile: Profile;
  /** The field of the profile's answer that has the id. */
  idField: string;
  /** The last answer, with this address in place of the person's. */
  withEmail(email: unknown, verified: unknown): Step["answer"];
  /** Answers of its own form, each with what differs in the profile. */
  edges: [what: string, step: Step["name"], changed: Step["answer"], expected: Partial<Profile>][];
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

const tooLongUrl = "https://a.example/".padEnd(2_049, "a");

const bearer = { access_token: accessToken, token_type: "Bearer", expires_in: 3599, scope: "openid" };

function openIdProvider(
  name: ProviderName,
  consentUrl: string,
  tokenUrl: string,
  profileUrl: string,
  prompts = ["select_account"],
) {
  const claims = {
    sub: "110169484474386276334",
    name: "Ada Lovelace",
    given_name: "Ada",
    picture: "https://images.example/a/ada=s96-c?x=1&y=%20",
    email: "Ada@Example.com",
    email_verified: true,
  };
  return (): ProviderCase => ({
    settings: credentials(name),
    consentUrl,
    scope: "openid email profile",
    prompts,
    steps: [step("token", tokenUrl, bearer), step("profile", profileUrl, claims)],
    profile: {
      email: "Ada@Example.com",
      emailVerified: true,
      id: "110169484474386276334",
      name: "Ada Lovelace",
      pictureUrl: "https://images.example/a/ada=s96-c?x=1&y=%20",
    },
    idField: "sub",
    withEmail: (email, email_verified) => ({ ...claims, email, email_verified }),
    edges: [],
  });
}

const githubEmails = (email: unknown, verified: unknown) => [
  { email: "other@example.com", verified: true, primary: false, visibility: null },
  { email, verified, primary: true, visibility: "private" },
];

const secondary = { email: "ada@example.com", verified: true, primary: false };
const unknownEmail = { email: null, emailVerified: false };

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
    step("emails", "https://api.github.com/user/emails", githubEmails("ada@example.com", true)),
  ],
  profile: {
    email: "ada@example.com",
    emailVerified: true,
    id: "583231",
    name: "ada",
    pictureUrl: "https://avatars.example/u/583231?v=4",
  },
  idField: "id",
  withEmail: githubEmails,
  edges: [
    ["a name", "profile", { name: "Ada Lovelace" }, { name: "Ada Lovelace" }],
    ["a picture of 2,049 characters", "profile", { avatar_url: tooLongUrl }, { pictureUrl: null }],
    ["the largest exact number for the id", "profile", { id: 2 ** 53 - 1 }, { id: "9007199254740991" }],
    ["an empty list of addresses", "emails", [], unknownEmail],
    ["no primary address", "emails", [secondary], unknownEmail],
    [
      "an unverified primary address",
      "emails",
      [{ ...secondary, verified: false, primary: true }, secondary],
      { emailVerified: false },
    ],
    ["addresses of wrong types", "emails", ["ada@example.com", null, 1, [secondary]], unknownEmail],
  ],
});

const discordUser = {
  id: "80351110224678912",
  username: "ada",
  discriminator: "0",
  global_name: "Ada Lovelace",
  avatar: "a_8342729096ea3675442027381ff50dfe",
  verified: true,
  email: "ada@example.com",
};

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
    step("profile", "https://discord.com/api/users/@me", discordUser),
  ],
  profile: {
    email: "ada@example.com",
    emailVerified: true,
    id: "80351110224678912",
    name: "Ada Lovelace",
    pictureUrl: "https://cdn.discordapp.com/avatars/80351110224678912/a_8342729096ea3675442027381ff50dfe.png",
  },
  idField: "id",
  withEmail: (email, verified) => ({ ...discordUser, email, verified }),
  edges: [
    ["no display name", "profile", { global_name: null }, { name: "ada" }],
    ["no avatar", "profile", { avatar: null }, { pictureUrl: null }],
    ["an avatar of 256 characters", "profile", { avatar: "a".repeat(256) }, { pictureUrl: null }],
    ["an avatar with a path traversal", "profile", { avatar: "../../x" }, { pictureUrl: null }],
  ],
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
