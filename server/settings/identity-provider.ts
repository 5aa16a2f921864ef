import * as z from "zod";
import { flag, optional, required, webUrl } from "./forms";

/** The entries of `identity-provider/providers.ts`; the endpoints of `oidc` come from its issuer's discovery document. */
const knownEndpoints = ["google", "github", "gitlab", "discord"] as const;
export const providerNames = [...knownEndpoints, "oidc"] as const;
export type ProviderName = (typeof providerNames)[number];

interface IdentityProviderSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Each overrides the endpoint of the provider's entry or of its discovery document. */
  readonly authorizeUrl: string | null;
  readonly tokenUrl: string | null;
  readonly profileUrl: string | null;
  readonly scope: string | null;
  /** Adds PKCE (RFC 7636). */
  readonly pkce: boolean;
}

export type IdentityProviderConfig = IdentityProviderSettings &
  (
    | { readonly provider: "oidc"; readonly issuer: string }
    | { readonly provider: Exclude<ProviderName, "oidc">; readonly issuer: string | null }
  );

const knownProviders = `must be one of ${providerNames.join(", ")}`;

/** The form of each setting by itself. */
export const identityProviderForms = {
  IDP_PROVIDER: z.enum(providerNames, knownProviders).default("google"),
  IDP_CLIENT_ID: z.string().optional(),
  IDP_CLIENT_SECRET: z.string().optional(),
  IDP_ISSUER: webUrl.optional(),
  IDP_AUTHORIZE_URL: webUrl.optional(),
  IDP_TOKEN_URL: webUrl.optional(),
  IDP_PROFILE_URL: webUrl.optional(),
  IDP_SCOPE: z.string().optional(),
  IDP_PKCE: flag,
};

/** What comes with the client's credentials. */
const client = {
  IDP_CLIENT_ID: required("IDP_CLIENT_SECRET is set"),
  IDP_CLIENT_SECRET: required("IDP_CLIENT_ID is set"),
  IDP_AUTHORIZE_URL: optional,
  IDP_TOKEN_URL: optional,
  IDP_PROFILE_URL: optional,
  IDP_SCOPE: optional,
  IDP_PKCE: z.unknown().optional(),
};

/** The union below stops at an unknown provider: this names a missing credential then too. */
export const clientSettings = z.object(client);

/** What an external sign-in needs once it is on. */
export const identityProviderSettings = z
  .discriminatedUnion(
    "IDP_PROVIDER",
    [
      z.object({
        ...client,
        IDP_PROVIDER: z.enum(knownEndpoints).default("google"),
        IDP_ISSUER: optional,
      }),
      z.object({ ...client, IDP_PROVIDER: z.literal("oidc"), IDP_ISSUER: required("IDP_PROVIDER is oidc") }),
    ],
    knownProviders,
  )
  .transform((env): IdentityProviderConfig => {
    const shared = {
      clientId: env.IDP_CLIENT_ID,
      clientSecret: env.IDP_CLIENT_SECRET,
      authorizeUrl: env.IDP_AUTHORIZE_URL,
      tokenUrl: env.IDP_TOKEN_URL,
      profileUrl: env.IDP_PROFILE_URL,
      scope: env.IDP_SCOPE,
      pkce: env.IDP_PKCE === true,
    };
    if (env.IDP_PROVIDER === "oidc") return { ...shared, provider: env.IDP_PROVIDER, issuer: env.IDP_ISSUER };
    return { ...shared, provider: env.IDP_PROVIDER, issuer: env.IDP_ISSUER };
  });
