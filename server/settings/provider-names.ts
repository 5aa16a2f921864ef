/** The values of `IDP_PROVIDER`. `server/provider/providers.ts` has the provider of each. */
export const providerNames = ["google", "github", "gitlab", "discord", "oidc"] as const;

export type ProviderName = (typeof providerNames)[number];

/** Whether an application can log somebody out there (OpenID Connect RP-Initiated Logout 1.0, `end_session_endpoint`). */
export const hasLogout: Record<ProviderName, boolean> = {
  google: false,
  github: false,
  gitlab: true,
  discord: false,
  oidc: true,
};
