import * as z from "zod";
import { StartError } from "./errors";
import { processValue } from "./process-value";
import { type ReadFile, readSecrets, readTextFile } from "./secrets";
import { parseSmtpUrl, type SmtpServer } from "./smtp-url";

const embeddedDatabase = "pglite:./data";

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

export interface MailServiceConfig {
  readonly driver: "resend" | "postmark";
  readonly from: string;
  /** `null`: the service's public address. */
  readonly apiUrl: string | null;
  readonly apiKey: string;
}

export interface SmtpConfig {
  readonly driver: "smtp";
  readonly from: string;
  readonly server: SmtpServer;
}

export type MailConfig = { readonly driver: "log"; readonly from: string } | SmtpConfig | MailServiceConfig;

/** `process.env`, or an object like it. */
export type Environment = Record<string, string | undefined>;

export interface Config {
  readonly production: boolean;
  /** Scheme and authority without a trailing slash: the base of every mailed link. */
  readonly appUrl: string;
  /** `postgresql://…`, or `pglite:FOLDER` for the embedded database. */
  readonly databaseUrl: string;
  readonly port: number;
  /** How many reverse proxies stand in front; 0 trusts no forwarded header. */
  readonly trustedProxies: number;
  readonly mail: MailConfig;
  /** `null`: external sign-in is off. */
  readonly identityProvider: IdentityProviderConfig | null;
}

/** Lists every problem of the environment, one per line, and no value of a secret. */
export class ConfigurationError extends StartError {
  override name = "ConfigurationError";

  constructor(problems: string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
  }
}

const flag = z
  .enum(["true", "false"], "must be true or false")
  .default("false")
  .transform((value) => value === "true");

/** `true` is one proxy. */
const trustedProxies = z
  .string()
  .regex(/^(?:true|false|\d)$/, "must be true, false or the number of proxies, at most 9")
  .default("false")
  .transform((value) => (value === "true" ? 1 : Number(value) || 0));

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

/** One message for every fault: the URL holds the password. */
const smtpUrl = z.string().refine((text) => parseSmtpUrl(text) !== null, {
  error: "must be smtps://user:password@host:465 or smtp://user:password@host:587",
});

const knownDrivers = "must be log, smtp, resend or postmark";
const knownProviders = `must be one of ${providerNames.join(", ")}`;

/** The form of each setting by itself. */
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
  TRUST_PROXY: trustedProxies,
  MAIL_DRIVER: z.enum(["log", "smtp", "resend", "postmark"], knownDrivers).default("log"),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, "must be an address, or a name and an <address>")
    .optional(),
  MAIL_API_URL: webUrl.transform((text) => text.replace(/\/+$/, "")).optional(),
  SMTP_URL: smtpUrl.optional(),
  RESEND_API_KEY: headerValue.optional(),
  POSTMARK_SERVER_TOKEN: headerValue.optional(),
  IDP_PROVIDER: z.enum(providerNames, knownProviders).default("google"),
  IDP_CLIENT_ID: z.string().optional(),
  IDP_CLIENT_SECRET: z.string().optional(),
  IDP_ISSUER: webUrl.optional(),
  IDP_AUTHORIZE_URL: webUrl.optional(),
  IDP_TOKEN_URL: webUrl.optional(),
  IDP_PROFILE_URL: webUrl.optional(),
  IDP_SCOPE: z.string().optional(),
  IDP_PKCE: flag,
});
/** A setting that another one asks for; its form is checked above. */
const required = (why: string) => z.string(`is missing: ${why}`);
const optional = z.string().nullable().default(null);

const sender = required("a mail service needs the sender's address");
const mailService = { MAIL_FROM: sender, MAIL_API_URL: optional };

/** What each mail driver needs. */
const mailSettings = z
  .discriminatedUnion(
    "MAIL_DRIVER",
    [
      z.object({
        MAIL_DRIVER: z.literal("log").default("log"),
        MAIL_FROM: z.string().default("Latchkey <latchkey@localhost>"),
      }),
      z.object({
        MAIL_DRIVER: z.literal("smtp"),
        SMTP_URL: required("MAIL_DRIVER is smtp").transform((text) => parseSmtpUrl(text) ?? z.NEVER),
        MAIL_FROM: sender,
      }),
      z.object({
        MAIL_DRIVER: z.literal("resend"),
        RESEND_API_KEY: required("MAIL_DRIVER is resend"),
        ...mailService,
      }),
      z.object({
        MAIL_DRIVER: z.literal("postmark"),
        POSTMARK_SERVER_TOKEN: required("MAIL_DRIVER is postmark"),
        ...mailService,
      }),
    ],
    knownDrivers,
  )
  .transform((env): MailConfig => {
    switch (env.MAIL_DRIVER) {
      case "log":
        return { driver: "log", from: env.MAIL_FROM };
      case "smtp":
        return { driver: "smtp", from: env.MAIL_FROM, server: env.SMTP_URL };
      case "resend":
        return { driver: "resend", from: env.MAIL_FROM, apiUrl: env.MAIL_API_URL, apiKey: env.RESEND_API_KEY };
      case "postmark":
        return { driver: "postmark", from: env.MAIL_FROM, apiUrl: env.MAIL_API_URL, apiKey: env.POSTMARK_SERVER_TOKEN };
    }
  });

const publicAddress = z
  .object({ NODE_ENV: optional, MAIL_DRIVER: z.string().default("log"), APP_URL: optional })
  .refine((env) => env.NODE_ENV !== "production" || env.MAIL_DRIVER === "log" || env.APP_URL !== null, {
    path: ["APP_URL"],
    error: "is missing: mailed links need the public address of this service",
  });

const client = {
  IDP_CLIENT_ID: required("IDP_CLIENT_SECRET is set"),
  IDP_CLIENT_SECRET: required("IDP_CLIENT_ID is set"),
  IDP_AUTHORIZE_URL: optional,
  IDP_TOKEN_URL: optional,
  IDP_PROFILE_URL: optional,
  IDP_SCOPE: optional,
  IDP_PKCE: z.unknown().optional(),
};

const off = z.unknown().transform(() => null);

/** What an external sign-in needs once it is on. */
const identityProviderSettings = z
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

type SettingName = keyof z.infer<typeof settings>;

function problemsOf({ error }: z.ZodSafeParseResult<unknown>): string[] {
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
}

/**
 * Reads the whole configuration from the environment, and the secrets that it says are in files. An empty variable
 * counts as unset.
 *
 * @throws ConfigurationError naming every setting that is missing or malformed, and every file that cannot be read
 */
export function loadConfig(environment: Environment, readFile: ReadFile = readTextFile): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const { secrets, problems: unread } = readSecrets(set, readFile);
  const present = { ...set, ...secrets };
  const has = (name: SettingName) => present[name] !== undefined;
  const parsed = settings.safeParse(present);
  const env = { ...present, ...parsed.data };
  const address = publicAddress.safeParse(env);
  const mail = mailSettings.safeParse(env);
  const externalSignIn = has("IDP_CLIENT_ID") || has("IDP_CLIENT_SECRET");
  const identityProvider = (externalSignIn ? identityProviderSettings : off).safeParse(env);
  if (unread.size > 0 || !parsed.success || !address.success || !mail.success || !identityProvider.success) {
    const credentials = (externalSignIn ? z.object(client) : off).safeParse(env); // the union stops at an unknown provider
    const problems = [parsed, mail, address, credentials, identityProvider]
      .flatMap(problemsOf)
      .filter((problem) => !unread.has(problem.split(" ", 1)[0] ?? "")); // "is missing" would mislead
    throw new ConfigurationError([...new Set([...unread.values(), ...problems])]);
  }
  const { NODE_ENV, APP_URL, DATABASE_URL, PORT, TRUST_PROXY } = parsed.data;
  return Object.freeze({
    production: NODE_ENV === "production",
    appUrl: APP_URL ?? `http://localhost:${PORT}`,
    databaseUrl: DATABASE_URL,
    port: PORT,
    trustedProxies: TRUST_PROXY,
    mail: Object.freeze(mail.data),
    identityProvider: Object.freeze(identityProvider.data),
  });
}

const provided = processValue<Config>("config");

/** Makes a configuration the one of this process. */
export function provideConfig(config: Config): void {
  provided.current = config;
}

/** The configuration of this process. */
export function config(): Config {
  if (!provided.current) throw new Error("The configuration has not been loaded.");
  return provided.current;
}
