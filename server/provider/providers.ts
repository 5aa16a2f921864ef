import * as z from "zod";
import { parseName } from "../rules";
import type { ProviderName } from "../settings/provider-names";

export interface Profile {
  id: string;
  /** As the provider sent it: not normalised, not checked. */
  email: string | null;
  /** Whether the provider itself states that `email` is verified. */
  emailVerified: boolean;
  name: string | null;
  pictureUrl: string | null;
  /** The values of `IDP_GROUPS_CLAIM`, as the provider sent them. */
  groups?: string[];
}

export interface Endpoints {
  authorizeUrl: string;
  tokenUrl: string;
  profileUrl: string;
}

export interface Provider {
  /** The provider's own name; `null` for `oidc`, which may be any provider. */
  label: string | null;
  /** `null`: found by discovery at `IDP_ISSUER`. */
  endpoints: Endpoints | null;
  /** The issuer that its authorization responses name (RFC 9207); `null` if it is not documented. */
  issuer: string | null;
  scope: string;
  /** With this value of the parameter, the provider asks which account to use; `null` if no value does this. */
  prompt: string | null;
  /** With this value of `prompt`, the provider signs nobody in without a question. */
  freshPrompt?: string;
  /** Whether it signs nobody in inside the browser of another app. */
  refusesInAppBrowsers?: boolean;
  /** Parses the profile endpoint's answer. */
  profile: z.ZodType<Profile>;
  /** If the email needs a second call: the path below the profile's URL, and the answer's shape. */
  emails: { path: string; email: z.ZodType<Pick<Profile, "email" | "emailVerified">> } | null;
}

// PostgreSQL has no NUL, and UTF-8 no lone surrogate: two ids that differ in one would be stored as the same.
export const providerId = z.union([z.string().regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,255}$/u), z.int().transform(String)]);
const orNull = <T extends z.ZodType>(type: T) => type.nullable().catch(null);

const email = orNull(z.string());
const verified = z.literal([true, "true"]).transform(Boolean).catch(false); // Amazon Cognito sends a string

const matching = (pattern: RegExp) => orNull(z.string().regex(pattern));

const text = orNull(z.string().transform((typed) => parseName(typed)));

/** A claim of groups: texts, or one text. */
export const groupsClaim = (name: string) =>
  z
    .object({ [name]: z.union([z.array(z.unknown()), z.string().transform((group) => [group])]).catch([]) })
    .transform((claims) => ({ groups: claims[name]?.filter((group) => typeof group === "string") ?? [] }));

const url = matching(/^[^\p{Cc}\p{Cs}]{1,2048}$/u); // every signed-in request reads it from the database
const avatar = matching(/^\w{1,255}$/);

/** The standard claims, OpenID Connect Core 1.0, section 5.1. */
const claims = z.object({ sub: providerId, email, email_verified: verified, name: text, picture: url });

const profileOfClaims = claims.transform(
  ({ sub: id, email, email_verified: emailVerified, name, picture: pictureUrl }): Profile => ({
    id,
    email,
    emailVerified,
    name,
    pictureUrl,
  }),
);

/** The provider's entry. By `oidc`, Google is known by its issuer. */
export const entryOf = ({ provider, issuer }: { provider: ProviderName; issuer: string | null }): Provider =>
  issuer !== null && new URL(issuer).origin === providers.google.issuer ? providers.google : providers[provider];

const openIdConnect = { scope: "openid email profile", profile: profileOfClaims, emails: null };

/** https://docs.github.com/rest/users/users#get-the-authenticated-user; its `email` is the public one, unverified. */
const githubUser = z.object({ id: providerId, login: text, name: text, avatar_url: url });

/** https://docs.github.com/rest/users/emails */
const githubEmails = z.array(
  z
    .object({ email, primary: z.boolean().catch(false), verified })
    .catch({ email: null, primary: false, verified: false }),
);

/** https://discord.com/developers/docs/resources/user#user-object */
const discordUser = z.object({ id: providerId, username: text, global_name: text, avatar, email, verified });

export const providers = {
  google: {
    label: "Google",
    endpoints: {
      authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
      tokenUrl: "https://oauth2.googleapis.com/token",
      profileUrl: "https://openidconnect.googleapis.com/v1/userinfo",
    },
    issuer: "https://accounts.google.com",
    prompt: "select_account",
    freshPrompt: "select_account", // it has no `login`
    refusesInAppBrowsers: true, // https://developers.google.com/identity/protocols/oauth2/policies#browsers
    ...openIdConnect,
  },
  github: {
    label: "GitHub",
    endpoints: {
      authorizeUrl: "https://github.com/login/oauth/authorize",
      tokenUrl: "https://github.com/login/oauth/access_token",
      profileUrl: "https://api.github.com/user",
    },
    issuer: null,
    scope: "read:user user:email",
    prompt: "select_account",
    freshPrompt: "select_account",
    profile: githubUser.transform(
      (user): Profile => ({
        id: user.id,
        email: null,
        emailVerified: false,
        name: user.name ?? user.login,
        pictureUrl: user.avatar_url,
      }),
    ),
    emails: {
      path: "/emails",
      email: githubEmails.transform((emails) => {
        const primary = emails.find((entry) => entry.primary);
        return { email: primary?.email ?? null, emailVerified: primary?.verified ?? false };
      }),
    },
  },
  gitlab: {
    label: "GitLab",
    endpoints: {
      authorizeUrl: "https://gitlab.com/oauth/authorize",
      tokenUrl: "https://gitlab.com/oauth/token",
      profileUrl: "https://gitlab.com/oauth/userinfo",
    },
    issuer: "https://gitlab.com",
    ...openIdConnect,
    prompt: "login", // it answers `select_account` with an error: https://gitlab.com/gitlab-org/gitlab/-/issues/377368
    freshPrompt: "login",
  },
  discord: {
    label: "Discord",
    endpoints: {
      authorizeUrl: "https://discord.com/oauth2/authorize",
      tokenUrl: "https://discord.com/api/oauth2/token",
      profileUrl: "https://discord.com/api/users/@me",
    },
    issuer: null,
    scope: "identify email",
    prompt: null, // its consent screen offers to change the account
    profile: discordUser.transform(
      (user): Profile => ({
        id: user.id,
        email: user.email,
        emailVerified: user.verified,
        name: user.global_name ?? user.username,
        pictureUrl: user.avatar && `https://cdn.discordapp.com/avatars/${user.id}/${user.avatar}.png`,
      }),
    ),
    emails: null,
  },
  oidc: {
    label: null,
    endpoints: null,
    issuer: null,
    prompt: "select_account",
    freshPrompt: "login",
    ...openIdConnect,
  },
} satisfies Record<ProviderName, Provider>;
