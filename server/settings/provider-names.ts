/** The values of `IDP_PROVIDER`. `server/provider/providers.ts` has the provider of each. */
export const providerNames = ["google", "github", "gitlab", "discord", "oidc"] as const;

export type ProviderName = (typeof providerNames)[number];
