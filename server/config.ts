import { isIP } from "node:net";
import { StartError } from "./errors";
import { mailServices } from "./mail-services/services";
import { allowedTarget, type ReturnOrigins } from "./origins/return-to";
import { requiredValue } from "./process/value";
import { brandColors, defaultColor } from "./settings/brand-colors";
import { brokenRules } from "./settings/combinations";
import { type Environment, readSettings } from "./settings/read-settings";
import type { Values } from "./settings/settings";

export type { Environment };

export type Config = Readonly<ReturnType<typeof configOf>>;
export type MailConfig = Config["mail"];
export type SmtpConfig = Extract<MailConfig, { driver: "smtp" }>;
export type MailServiceConfig = Extract<MailConfig, { apiKey: string }>;
export type IdentityProviderConfig = NonNullable<Config["identityProvider"]>;
export type BrandConfig = Config["brand"];
export type MetricsConfig = NonNullable<Config["metrics"]>;

export const [setConfig, config] = requiredValue<Config>("config", "The configuration has not been loaded.");

/** @throws ConfigurationError naming every setting that is missing or malformed, and every file that cannot be read */
export function loadConfig(environment: Environment): Config {
  const production = environment.NODE_ENV === "production";
  const { values, problems } = readSettings(environment);
  const { APP_URL, PORT } = values; // undefined: the setting has a problem
  const appUrl = APP_URL ?? (APP_URL === null && PORT ? `http://localhost:${PORT}` : undefined);
  problems.push(...brokenRules(values, appUrl, production));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configOf(values as Values, given(appUrl), production); // complete: a setting without a value has a problem
}

export class ConfigurationError extends StartError {
  override name = "ConfigurationError";

  constructor(readonly problems: readonly string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
  }
}

const hour = 3_600_000; // ms
const defaultIdle = 336; // hours

/** `settings/settings.ts` describes each value. `null`: the setting is not set, or the feature is off. */
function configOf(v: Values, appUrl: string, production: boolean) {
  const allowed: ReturnOrigins = { appUrl, returnOrigins: v.RETURN_ORIGINS };
  const { REGISTRATION: mode } = v;
  return {
    production,
    ...allowed,
    relyingPartyId: v.PASSKEY_RP_ID ?? passkeyHost(appUrl),
    afterSignIn: given(allowedTarget(v.AFTER_SIGN_IN, allowed)),
    sessionDomain: v.SESSION_DOMAIN,
    deviceBoundSessions: v.DEVICE_BOUND_SESSIONS,
    identityKey: v.IDENTITY_TOKENS ? v.IDENTITY_KEY : null,
    accessTokens: v.ACCESS_TOKENS ? { days: v.ACCESS_TOKEN_DAYS } : null,
    webhook:
      v.WEBHOOK_URL && v.WEBHOOK_SECRET
        ? { url: v.WEBHOOK_URL, secret: v.WEBHOOK_SECRET, sessions: v.WEBHOOK_SESSIONS }
        : null,
    databaseUrl: v.DATABASE_URL,
    databaseDirectUrl: v.DATABASE_DIRECT_URL,
    port: v.PORT,
    host: v.HOST,
    processes: v.PROCESSES,
    trustedProxies: v.TRUST_PROXY,
    mail: mailConfig(v),
    brand: {
      name: v.BRAND_NAME,
      logo: v.BRAND_LOGO,
      color: v.BRAND_COLOR,
      colors: brandColors(v.BRAND_COLOR ?? defaultColor), // once: for each mail, it took 1.6 % of the CPU of W1
      termsUrl: v.TERMS_URL,
      privacyUrl: v.PRIVACY_URL,
      supportEmail: v.SUPPORT_EMAIL,
    },
    metrics: v.METRICS_PORT === null ? null : { host: v.METRICS_HOST, port: v.METRICS_PORT },
    defaultLanguage: v.DEFAULT_LOCALE,
    registration: mode === "domains" ? { mode, domains: given(v.REGISTRATION_DOMAINS) } : { mode },
    passwords: {
      on: v.PASSWORDS,
      minimumLength: v.PASSWORD_MIN_LENGTH,
      breachesUrl: v.BREACHED_PASSWORDS ? withoutSlash(v.BREACHED_PASSWORDS_URL) : null,
    },
    /** In ms. */
    sessions: {
      idle: (v.SESSION_IDLE ?? Math.min(defaultIdle, v.SESSION_MAX)) * hour,
      max: v.SESSION_MAX * hour,
    },
    signInRedirect: v.SIGN_IN_REDIRECT,
    identityProvider: identityProviderConfig(v),
  };
}

/** The host name, not an IP address, of a secure context. `null`: passkeys are off. */
function passkeyHost(appUrl: string): string | null {
  const { protocol, hostname } = new URL(appUrl);
  const isSecure = protocol === "https:" || hostname === "localhost";
  return isSecure && !hostname.startsWith("[") && isIP(hostname) === 0 ? hostname : null;
}

/** `apiUrl`: `null` is the mail service's public address. */
function mailConfig(v: Values) {
  const { MAIL_DRIVER: driver } = v;
  const from = v.MAIL_FROM ?? `${v.BRAND_NAME} <latchkey@localhost>`;
  if (driver === "log") return { driver, from };
  if (driver === "smtp") return { driver, from, server: given(v.SMTP_URL) };
  const apiUrl = v.MAIL_API_URL && withoutSlash(v.MAIL_API_URL);
  return { driver, from, apiUrl, apiKey: given(v[mailServices[driver].setting]), eventsSecret: v.MAIL_EVENTS_SECRET };
}

const withoutSlash = (url: string) => url.replace(/\/+$/, "");

/** Where a value is `null`, the provider's entry or its discovery document decides. */
function identityProviderConfig(v: Values) {
  if (v.IDP_CLIENT_ID === null) return null;
  const client = {
    clientId: v.IDP_CLIENT_ID,
    clientSecret: given(v.IDP_CLIENT_SECRET),
    authorizeUrl: v.IDP_AUTHORIZE_URL,
    tokenUrl: v.IDP_TOKEN_URL,
    profileUrl: v.IDP_PROFILE_URL,
    scope: v.IDP_SCOPE,
    pkce: v.IDP_PKCE,
    trustEmail: v.IDP_TRUST_EMAIL,
    groupsClaim: v.IDP_GROUPS_CLAIM,
    name: v.IDP_NAME,
    logout: v.IDP_LOGOUT,
  };
  const { IDP_PROVIDER: provider, IDP_ISSUER: issuer } = v;
  return provider === "oidc" ? { ...client, provider, issuer: given(issuer) } : { ...client, provider, issuer };
}

/** A value that is there, because its setting is required with another one or passed a rule. */
const given = <Value>(value: Value | null | undefined): Value => value as Value;
