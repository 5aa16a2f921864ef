import * as z from "zod";
import { type ProviderName, providerNames } from "./identity-provider/providers";

const embeddedDatabase = "pglite:./data";

export interface IdentityProviderConfig {
  provider: ProviderName;
  clientId: string;
  clientSecret: string;
  issuer: string | null;
  authorizeUrl: string | null;
  tokenUrl: string | null;
  profileUrl: string | null;
  scope: string | null;
  /** RFC 7636, for providers that insist on it. */
  pkce: boolean;
}

export interface MailServiceConfig {
  driver: "resend" | "postmark";
  from: string;
  /** `null`: the service's own. */
  apiUrl: string | null;
  apiKey: string;
}

export type MailConfig = { driver: "log"; from: string } | MailServiceConfig;

/** `process.env`, or what stands in for it. */
export type Environment = Record<string, string | undefined>;

export interface Config {
  production: boolean;
  /** Scheme and authority, no trailing slash: the base of every mailed link. */
  appUrl: string;
  /** `postgresql://…`, or `pglite:FOLDER` for the embedded database. */
  databaseUrl: string;
  port: number;
  trustProxy: boolean;
  mail: MailConfig;
  /** `null`: external sign-in is off. */
  identityProvider: IdentityProviderConfig | null;
}

/** Lists every problem of the environment, one per line; never a value of a secret. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";

  constructor(problems: string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
  }
}

const flag = z
  .enum(["true", "false"], "must be true or false")
  .default("false")
  .transform((value) => value === "true");

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const webUrl = z.string().refine(isWebUrl, "must be an http or https URL");

const headerValue = z.string().regex(/^[!-~]+$/, "must be printable ASCII without spaces");

const appUrl = webUrl
  .refine(
    (text) => !isWebUrl(text) || new URL(text).href === `${new URL(text).origin}/`,
    "must be an origin: no path, query or credentials",
  )
  .transform((text) => new URL(text).origin);

const databaseUrl = z
  .string()
  .refine((text) => /^pglite:./.test(text) || (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)), {
    error: "must be a postgresql:// URL, or pglite: and a folder",
  });

const settings = z.object({
  NODE_ENV: z.string().optional(),
  APP_URL: appUrl.optional(),
  DATABASE_URL: databaseUrl.default(embeddedDatabase),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number")
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, "must be a port number")
    .default(3000),
  TRUST_PROXY: flag,
  MAIL_DRIVER: z.enum(["log", "resend", "postmark"], "must be log, resend or postmark").default("log"),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, "must be an address, or a name and an <address>")
    .optional(),
  MAIL_API_URL: webUrl.transform((text) => text.replace(/\/+$/, "")).optional(),
  RESEND_API_KEY: headerValue.optional(),
  POSTMARK_SERVER_TOKEN: headerValue.optional(),
  IDP_PROVIDER: z.enum(providerNames, `must be one of ${providerNames.join(", ")}`).default("google"),
  IDP_CLIENT_ID: z.string().optional(),
  IDP_CLIENT_SECRET: z.string().optional(),
  IDP_ISSUER: webUrl.optional(),
  IDP_AUTHORIZE_URL: webUrl.optional(),
  IDP_TOKEN_URL: webUrl.optional(),
  IDP_PROFILE_URL: webUrl.optional(),
  IDP_SCOPE: z.string().optional(),
  IDP_PKCE: flag,
});

type Settings = z.infer<typeof settings>;

/** What the settings ask of each other: said even where one is malformed, so that one message has every problem. */
function missingSettings(env: Environment): string[] {
  const problems: string[] = [];
  const require = (name: keyof Settings, why: string) => {
    if (env[name] === undefined) problems.push(`${name} is missing: ${why}`);
  };
  if (env.MAIL_DRIVER === "resend") require("RESEND_API_KEY", "MAIL_DRIVER is resend");
  if (env.MAIL_DRIVER === "postmark") require("POSTMARK_SERVER_TOKEN", "MAIL_DRIVER is postmark");
  if (env.MAIL_DRIVER === "resend" || env.MAIL_DRIVER === "postmark") {
    require("MAIL_FROM", "a mail service needs the sender's address");
    if (env.NODE_ENV === "production") require("APP_URL", "mailed links need the public address of this service");
  }
  if (env.IDP_CLIENT_ID !== undefined) require("IDP_CLIENT_SECRET", "IDP_CLIENT_ID is set");
  if (env.IDP_CLIENT_SECRET !== undefined) require("IDP_CLIENT_ID", "IDP_CLIENT_SECRET is set");
  if (env.IDP_CLIENT_ID !== undefined && env.IDP_PROVIDER === "oidc") require("IDP_ISSUER", "IDP_PROVIDER is oidc");
  return problems;
}

function mailConfig(env: Settings): MailConfig {
  const from = env.MAIL_FROM ?? "Latchkey <latchkey@localhost>";
  const apiUrl = env.MAIL_API_URL ?? null;
  switch (env.MAIL_DRIVER) {
    case "log":
      return { driver: "log", from };
    case "resend":
      return { driver: "resend", from, apiUrl, apiKey: env.RESEND_API_KEY ?? "" };
    case "postmark":
      return { driver: "postmark", from, apiUrl, apiKey: env.POSTMARK_SERVER_TOKEN ?? "" };
  }
}

function identityProviderConfig(env: Settings): IdentityProviderConfig | null {
  if (env.IDP_CLIENT_ID === undefined || env.IDP_CLIENT_SECRET === undefined) return null;
  return {
    provider: env.IDP_PROVIDER,
    clientId: env.IDP_CLIENT_ID,
    clientSecret: env.IDP_CLIENT_SECRET,
    issuer: env.IDP_ISSUER ?? null,
    authorizeUrl: env.IDP_AUTHORIZE_URL ?? null,
    tokenUrl: env.IDP_TOKEN_URL ?? null,
    profileUrl: env.IDP_PROFILE_URL ?? null,
    scope: env.IDP_SCOPE ?? null,
    pkce: env.IDP_PKCE,
  };
}

/**
 * The whole configuration out of the environment; an empty variable counts as unset.
 *
 * @throws ConfigurationError naming every setting that is missing or malformed
 */
export function loadConfig(environment: Environment): Readonly<Config> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const parsed = settings.safeParse(present);
  const malformed = parsed.error?.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`) ?? [];
  const problems = [...malformed, ...missingSettings(present)];
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems);
  const env = parsed.data;
  return Object.freeze({
    production: env.NODE_ENV === "production",
    appUrl: env.APP_URL ?? `http://localhost:${env.PORT}`,
    databaseUrl: env.DATABASE_URL,
    port: env.PORT,
    trustProxy: env.TRUST_PROXY,
    mail: mailConfig(env),
    identityProvider: identityProviderConfig(env),
  });
}
