import { isIP } from "node:net";
import { brandColors, defaultColor } from "./brand-colors";
import { StartError } from "./errors";
import { processValue } from "./process-value";
import { type Environment, readSettings } from "./settings/read-settings";
import { allowedTarget, type ReturnOrigins } from "./settings/return-to";
import { appUrlOf, brokenRules } from "./settings/rules";
import type { Values } from "./settings/settings";

export type { Environment };
export type Config = Readonly<ReturnType<typeof configOf>>;
export type MailConfig = Config["mail"];
export type SmtpConfig = Extract<MailConfig, { driver: "smtp" }>;
export type MailServiceConfig = Extract<MailConfig, { apiKey: string }>;
export type IdentityProviderConfig = NonNullable<Config["identityProvider"]>;
export type BrandConfig = Config["brand"];
export type MetricsConfig = NonNullable<Config["metrics"]>;

/** A value that is there, because its setting is required with another one or passed a rule. */
const given = <Value>(value: Value | null | undefined): Value => value as Value;

type MailDriver = Values["mail"]["MAIL_DRIVER"];

/** The mail services with an HTTP API: the name, and the setting that has the key. */
export const mailServices = {
  resend: { service: "Resend", setting: "RESEND_API_KEY" },
  postmark: { service: "Postmark", setting: "POSTMARK_SERVER_TOKEN" },
} as const satisfies Record<Exclude<MailDriver, "log" | "smtp">, { service: string; setting: keyof Values["mail"] }>;

/** `apiUrl`: `null` is the mail service's public address. */
function mailConfig({ mail: v, brand }: Values) {
  const from = v.MAIL_FROM ?? `${brand.BRAND_NAME} <latchkey@localhost>`;
  const { MAIL_DRIVER: driver } = v;
  if (driver === "log") return { driver, from };
  if (driver === "smtp") return { driver, from, server: given(v.SMTP_URL) };
  const apiUrl = v.MAIL_API_URL?.replace(/\/+$/, "") ?? null;
  return { driver, from, apiUrl, apiKey: given(v[mailServices[driver].setting]) };
}

/** Where a value is `null`, the provider's entry or its discovery document decides. */
function identityProviderConfig({ identityProvider: v }: Values) {
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
    name: v.IDP_NAME,
    logout: v.IDP_LOGOUT,
  };
  const { IDP_PROVIDER: provider, IDP_ISSUER: issuer } = v;
  return provider === "oidc" ? { ...client, provider, issuer: given(issuer) } : { ...client, provider, issuer };
}

const hour = 3_600_000; // ms
const defaultIdle = 336; // hours

/** In ms. */
function sessionsConfig({ sessions: { SESSION_IDLE: idle, SESSION_MAX: max } }: Values) {
  return { idle: (idle ?? Math.min(defaultIdle, max)) * hour, max: max * hour };
}

/** The relying party's id: the host name, not an IP address, of a secure context. `null`: passkeys are off. */
function relyingPartyId(appUrl: string): string | null {
  const { protocol, hostname } = new URL(appUrl);
  const isSecure = protocol === "https:" || hostname === "localhost";
  return isSecure && !hostname.startsWith("[") && isIP(hostname) === 0 ? hostname : null;
}

/** `settings/settings.ts` describes each value. `null`: the setting is not set, or the feature is off. */
function configOf(values: Values, production: boolean) {
  const { address, database, applications, brand, language } = values;
  const { REGISTRATION: mode, REGISTRATION_DOMAINS: domains } = values.registration;
  const {
    PASSWORDS: on,
    PASSWORD_MIN_LENGTH: minimumLength,
    BREACHED_PASSWORDS: breaches,
    BREACHED_PASSWORDS_URL: url,
  } = values.passwords;
  const { METRICS_HOST: host, METRICS_PORT: port } = values.metrics;
  const { WEBHOOK_URL: webhookUrl, WEBHOOK_SECRET: webhookSecret } = applications;
  const allowed: ReturnOrigins = { appUrl: given(appUrlOf(values)), returnOrigins: applications.RETURN_ORIGINS };
  return {
    production,
    ...allowed,
    relyingPartyId: relyingPartyId(allowed.appUrl),
    afterSignIn: given(allowedTarget(applications.AFTER_SIGN_IN, allowed)),
    sessionDomain: applications.SESSION_DOMAIN,
    identityKey: applications.IDENTITY_TOKENS ? given(applications.IDENTITY_KEY) : null,
    webhook: webhookUrl === null ? null : { url: webhookUrl, secret: given(webhookSecret) },
    databaseUrl: database.DATABASE_URL,
    databaseDirectUrl: database.DATABASE_DIRECT_URL,
    port: address.PORT,
    host: address.HOST,
    processes: database.PROCESSES,
    trustedProxies: address.TRUST_PROXY,
    mail: mailConfig(values),
    brand: {
      name: brand.BRAND_NAME,
      logo: brand.BRAND_LOGO,
      color: brand.BRAND_COLOR,
      colors: brandColors(brand.BRAND_COLOR ?? defaultColor), // once: for each mail, it took 1.6 % of the CPU of W1
      termsUrl: brand.TERMS_URL,
      privacyUrl: brand.PRIVACY_URL,
      supportEmail: brand.SUPPORT_EMAIL,
    },
    metrics: port === null ? null : { host, port },
    defaultLanguage: language.DEFAULT_LOCALE,
    registration: mode === "domains" ? { mode, domains: given(domains) } : { mode },
    passwords: { on, minimumLength, breachesUrl: breaches ? url.replace(/\/+$/, "") : null },
    sessions: sessionsConfig(values),
    signInRedirect: values.identityProvider.SIGN_IN_REDIRECT,
    identityProvider: identityProviderConfig(values),
  };
}

export class ConfigurationError extends StartError {
  override name = "ConfigurationError";

  constructor(readonly problems: readonly string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
  }
}

/** @throws ConfigurationError naming every setting that is missing or malformed, and every file that cannot be read */
export function loadConfig(environment: Environment): Config {
  const production = environment.NODE_ENV === "production";
  const { values, problems } = readSettings(environment);
  problems.push(...brokenRules(values, production));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configOf(values as Values, production); // complete: a setting without a value has a problem
}

const provided = processValue<Config>("config");

export function provideConfig(config: Config): void {
  provided.current = config;
}

export function config(): Config {
  if (!provided.current) throw new Error("The configuration has not been loaded.");
  return provided.current;
}
