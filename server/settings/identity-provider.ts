import { flag, freeText, oneOf, webUrl } from "./forms";
import { given, type Setting, type Values } from "./setting";

export const identityProviderSettings = {
  IDP_CLIENT_ID: {
    form: freeText,
    help: "External sign-in is on with a client's id and secret. Its redirect URI is `{APP_URL}/auth/idp/callback`.",
    requiredWith: "IDP_CLIENT_SECRET",
  },
  IDP_CLIENT_SECRET: { form: freeText, help: "The client's secret.", secret: true, requiredWith: "IDP_CLIENT_ID" },
  IDP_PROVIDER: {
    form: oneOf("google", "github", "gitlab", "discord", "oidc"), // the entries of `identity-provider/providers.ts`
    default: "google",
    help: "`google`, `github`, `gitlab`, `discord`, or `oidc` for any OpenID Connect provider.",
  },
  IDP_ISSUER: {
    form: webUrl,
    help: "The issuer, required with `oidc`. A response that names another one is refused.",
    example: "https://id.example.com",
  },
  IDP_AUTHORIZE_URL: { form: webUrl, help: "Replaces what the provider's entry or its discovery document says." },
  IDP_TOKEN_URL: { form: webUrl, help: "The same for the token endpoint." },
  IDP_PROFILE_URL: { form: webUrl, help: "The same for the profile." },
  IDP_SCOPE: { form: freeText, help: "The same for the scopes, separated by spaces." },
  IDP_PKCE: { form: flag, default: "false", help: "`true` adds PKCE (S256), for providers that require it." },
} satisfies Record<string, Setting>;

export type ProviderName = Values<typeof identityProviderSettings>["IDP_PROVIDER"];
export type IdentityProviderConfig = NonNullable<ReturnType<typeof identityProviderConfig>>;

/** `null`: external sign-in is off. */
export function identityProviderConfig(v: Values<typeof identityProviderSettings>) {
  if (v.IDP_CLIENT_ID === null) return null;
  const client = {
    clientId: v.IDP_CLIENT_ID,
    clientSecret: given(v.IDP_CLIENT_SECRET),
    authorizeUrl: v.IDP_AUTHORIZE_URL,
    tokenUrl: v.IDP_TOKEN_URL,
    profileUrl: v.IDP_PROFILE_URL,
    scope: v.IDP_SCOPE,
    pkce: v.IDP_PKCE,
  };
  const { IDP_PROVIDER: provider, IDP_ISSUER: issuer } = v;
  return provider === "oidc" ? { ...client, provider, issuer: given(issuer) } : { ...client, provider, issuer };
}
