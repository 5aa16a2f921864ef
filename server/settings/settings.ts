import { applicationSettings } from "./applications";
import { brandSettings } from "./branding";
import { identityProviderSettings } from "./identity-provider";
import { mailSettings } from "./mail";
import { registrationSettings } from "./registration";
import { addressSettings, databaseSettings, languageSettings, metricsSettings } from "./service";
import type { Values } from "./setting";

export const settings = {
  ...addressSettings,
  ...databaseSettings,
  ...mailSettings,
  ...identityProviderSettings,
  ...registrationSettings,
  ...applicationSettings,
  ...brandSettings,
  ...languageSettings,
  ...metricsSettings,
};

export type AllValues = Values<typeof settings>;

/** By name. A setting with a problem has no value. */
export type KnownValues = Partial<AllValues>;
