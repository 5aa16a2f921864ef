/** The values of `IDP_PROVIDER`. `server/provider/providers.ts` has the provider of each. */
export const providerNames = ["google", "github", "gitlab", "discord", "oidc"] as const;

export type ProviderName = (typeof providerNames)[number];

/** False: no `end_session_endpoint` (OpenID Connect RP-Initiated Logout 1.0). True: its discovery document decides. */
export const mayHaveLogout: Record<ProviderName, boolean> = {
  google: false,
  github: false,
  gitlab: true,
  discord: false,
  oidc: true,
};
