import type * as z from "zod";
import { webhookSecret } from "../crypto/webhook-secret";
import { type Language, languages } from "../languages/languages";
import { mailDrivers, mailServices } from "../mail-services/services";
import { databaseUrl, directUrl } from "./database-url";
import * as formats from "./formats";
import { logo } from "./logo";
import { providerNames } from "./provider-names";
import { parseCookieDomain } from "./session-domain";

/** The description of a setting, for the start, `.env.example` and `docs/settings.md`. */
export interface Setting {
  /** Parses its text. A problem completes the sentence "NAME …", and quotes no value. */
  format: z.ZodType<unknown, string>;
  default?: string;
  help: string;
  /** For `.env.example`, instead of the default. */
  example?: string;
  /** It may be in a file, whose path is NAME_FILE. */
  secret?: true;
  /** `OTHER=value`, or `OTHER` for any value: with each of them, this one is required. */
  requiredWith?: string[];
}

const domain = formats.parsed(
  parseCookieDomain,
  "must be a domain such as example.org, of two labels or more and no public suffix",
);
const offByDefault = (help: string) => ({ format: formats.onOff, default: "off", help });

export const settings = {
  address: {
    APP_URL: {
      format: formats.origin,
      help: "The public origin, with which every mailed link starts. Without it, `http://localhost:PORT`.",
      example: "https://login.example.com",
    },
    PORT: { format: formats.port, default: "3000", help: "The port to listen on." },
    HOST: { format: formats.host, help: "The address to listen on. Without it, all interfaces.", example: "127.0.0.1" },
    TRUST_PROXY: {
      format: formats.proxies,
      default: "false",
      help: "How many proxies in front set `X-Forwarded-Proto`, `-Host` and `-For` (`true` is 1), or their addresses and networks.",
      example: "127.0.0.1, 10.0.0.0/8",
    },
  },
  database: {
    DATABASE_URL: {
      format: databaseUrl,
      default: "pglite:./data",
      help: "PostgreSQL 15 or newer, or `pglite:FOLDER`: an embedded database in this folder.",
      example: "postgresql://latchkey:secret@localhost:5432/latchkey",
      secret: true,
    },
    DATABASE_DIRECT_URL: {
      format: directUrl,
      help: "A direct connection for migrations and commands, if `DATABASE_URL` is a pooler, e.g. PgBouncer.",
      example: "postgresql://latchkey:secret@localhost:5432/latchkey",
      secret: true,
    },
    PROCESSES: {
      format: formats.processes,
      default: "1",
      help: "How many processes serve the port; `auto`: one for each core. More than 1 needs PostgreSQL.",
    },
  },
  mail: {
    MAIL_DRIVER: {
      format: formats.oneOf("log", ...mailDrivers),
      default: "log",
      help: "The mail service; `log` writes each mail to standard output.",
    },
    MAIL_FROM: {
      format: formats.sender,
      help: "The sender. Required with a mail service.",
      example: "Latchkey <no-reply@example.com>",
    },
    SMTP_URL: {
      format: formats.smtpUrl,
      help: "`smtps://user:password@host:465`, or `smtp://user:password@host:587` with STARTTLS.",
      secret: true,
      requiredWith: ["MAIL_DRIVER=smtp"],
    },
    RESEND_API_KEY: { format: formats.key, help: "The API key.", secret: true, requiredWith: ["MAIL_DRIVER=resend"] },
    POSTMARK_SERVER_TOKEN: {
      format: formats.key,
      help: "A token.",
      secret: true,
      requiredWith: ["MAIL_DRIVER=postmark"],
    },
    MAIL_EVENTS_SECRET: {
      format: formats.key,
      help: "Opens `{APP_URL}/mail/events`, where Resend or Postmark tell of bounces: the secret of Resend's webhook, or a password of 16 characters or more that Postmark sends.",
      secret: true,
    },
    MAIL_API_URL: {
      format: formats.httpsUrl,
      help: `Another base URL of ${formats.either(Object.values(mailServices).map(({ label }) => label))}: a region's, or a mock server.`,
    },
  },
  identityProvider: {
    IDP_CLIENT_ID: {
      format: formats.text,
      help: "External sign-in is on with a client's id and secret. Its redirect URI is `{APP_URL}/auth/idp/callback`.",
      requiredWith: ["IDP_CLIENT_SECRET"],
    },
    IDP_CLIENT_SECRET: {
      format: formats.text,
      help: "The client's secret.",
      secret: true,
      requiredWith: ["IDP_CLIENT_ID"],
    },
    IDP_PROVIDER: {
      format: formats.oneOf(...providerNames),
      default: "google",
      help: `${formats.names(providerNames)}; \`oidc\` is any OpenID Connect provider.`,
    },
    IDP_ISSUER: {
      format: formats.issuer,
      help: "The issuer, required with `oidc`. A response that names another one is refused.",
      example: "https://id.example.com",
    },
    IDP_AUTHORIZE_URL: { format: formats.webUrl, help: "Replaces the authorization endpoint of the provider." },
    IDP_TOKEN_URL: { format: formats.webUrl, help: "Replaces the token endpoint." },
    IDP_PROFILE_URL: { format: formats.webUrl, help: "Replaces where the profile is." },
    IDP_SCOPE: { format: formats.text, help: "Replaces the scopes, separated by spaces." },
    IDP_PKCE: {
      format: formats.flag,
      default: "false",
      help: "`true` adds PKCE (S256), for providers that require it.",
    },
    SIGN_IN_REDIRECT: offByDefault(
      "`on`: `/login` sends a visitor on to the provider. With a notice it shows the page, with every way to sign in.",
    ),
    IDP_NAME: {
      format: formats.displayName(40),
      help: 'With `oidc`: the provider\'s name on buttons, notices and mails, in place of "single sign-on".',
      example: "Example ID",
    },
    IDP_LOGOUT: offByDefault(
      "`on`: whoever signed in with the provider logs out there, too. Register `{APP_URL}/login?notice=signed_out` with it.",
    ),
    IDP_GROUPS_CLAIM: {
      format: formats.key,
      help: "With `oidc`, for a provider of your own organisation: the claim of its profile answer that has a person's groups.",
      example: "groups",
    },
    IDP_TRUST_EMAIL: {
      format: formats.flag,
      default: "false",
      help: "`true`: with `oidc`, for a provider of your own organisation: each address that it states counts as verified.",
    },
  },
  registration: {
    REGISTRATION: {
      format: formats.oneOf("open", "closed", "domains"),
      default: "open",
      help: "Who gets a new account: everybody, nobody (`closed`), or addresses of `REGISTRATION_DOMAINS` (`domains`).",
    },
    REGISTRATION_DOMAINS: {
      format: formats.list(formats.parseDomain, "must be domains, e.g. example.org,example.net"),
      help: "The domains, separated by commas. Their subdomains do not count.",
      example: "example.org,example.net",
      requiredWith: ["REGISTRATION=domains"],
    },
  },
  passwords: {
    PASSWORDS: {
      format: formats.onOff,
      default: "on",
      help: "`off`: people register only through the provider. Nobody signs in with a password or gets one. Sessions go on.",
    },
    PASSWORD_MIN_LENGTH: {
      format: formats.minimumLength,
      default: "8",
      help: "The minimum length of a new password, 8 to 64 characters. NIST SP 800-63B-4 asks for 15.",
    },
    BREACHED_PASSWORDS: offByDefault(
      "`on` refuses a new password that Have I Been Pwned knows. The service gets five digits of its hash.",
    ),
    BREACHED_PASSWORDS_URL: {
      format: formats.httpsUrl,
      default: "https://api.pwnedpasswords.com",
      help: "The base URL of the range service: a mirror's, or a mock server's.",
    },
  },
  sessions: {
    SESSION_IDLE: {
      format: formats.hours,
      help: "After how many hours without use a session ends. Without it 336 (14 days), or `SESSION_MAX` where that is less.",
      example: "12",
    },
    SESSION_MAX: {
      format: formats.hours,
      default: "720",
      help: "After how many hours from the sign-in a session ends, at most 8760. Holds for sessions that exist, too.",
    },
    DEVICE_BOUND_SESSIONS: offByDefault(
      "`on`: browsers that can bind a session to their device do so, and a copied cookie ends within ten minutes. Needs https or a loopback address.",
    ),
  },
  applications: {
    RETURN_ORIGINS: {
      format: formats.list(
        formats.parseReturnOrigin,
        "must be origins such as https://app.example.org, separated by commas",
      ),
      default: "",
      help: "Origins besides `APP_URL`, separated by commas: a sign-in may lead there, and `Remote-Token` may be for them.",
      example: "https://app.example.com,https://shop.example.com",
    },
    AFTER_SIGN_IN: {
      format: formats.text,
      default: "/dashboard",
      help: "Where a sign-in without `return_to` ends: a path, or a URL of `APP_URL` or of `RETURN_ORIGINS`.",
    },
    SESSION_DOMAIN: {
      format: domain,
      help: "Shares the session cookie with every host of this domain. Read SECURITY.md first.",
      example: "example.com",
    },
    PASSKEY_RP_ID: {
      format: domain,
      help: "The name that passkeys are made for: the host of `APP_URL`, or a parent of it. Read docs/moving.md first.",
      example: "example.com",
    },
    IDENTITY_TOKENS: offByDefault(
      "`on`: the 200 of `/auth/verify` has a signed `Remote-Token`; its keys are at `/.well-known/jwks.json`.",
    ),
    IDENTITY_KEY: {
      format: formats.encryptionKey,
      help: "Encrypts the stored keys of the tokens. 32 bytes in base64. Required with `IDENTITY_TOKENS=on`.",
      secret: true,
    },
    ACCESS_TOKENS: offByDefault(
      "`on`: people make tokens for programs at `/account/tokens`, which count at `/auth/verify?tokens=on`. Read SECURITY.md first.",
    ),
    ACCESS_TOKEN_DAYS: {
      format: formats.tokenDays,
      default: "365",
      help: "After how many days a token ends at the latest, 1 to 365. Holds for tokens that exist, too.",
    },
    WEBHOOK_URL: {
      format: formats.httpsUrl,
      help: "Where changes of accounts are posted to: an https URL, or one of a loopback address.",
      example: "https://app.example.com/webhooks",
      requiredWith: ["WEBHOOK_SECRET", "WEBHOOK_SESSIONS=on"],
    },
    WEBHOOK_SECRET: {
      format: webhookSecret,
      help: "Signs them: `whsec_` and the base64 of 24 to 64 random bytes.",
      secret: true,
      requiredWith: ["WEBHOOK_URL"],
    },
    WEBHOOK_SESSIONS: offByDefault("`on`: the webhook `session.ended` tells of sessions that end before their time."),
  },
  brand: {
    BRAND_NAME: { format: formats.displayName(60), default: "Latchkey", help: "The name in titles, pages and mails." },
    BRAND_LOGO: { format: logo, help: "An SVG or PNG file, at most 100 KiB.", example: "/etc/latchkey/logo.svg" },
    BRAND_COLOR: {
      format: formats.color,
      help: "`#rrggbb`; in quotes in a `.env` file, where `#` starts a comment.",
      example: '"#0b6355"',
    },
    TERMS_URL: {
      format: formats.httpsUrl,
      help: "In the foot of pages and mails.",
      example: "https://example.com/terms",
    },
    PRIVACY_URL: { format: formats.httpsUrl, help: "The same.", example: "https://example.com/privacy" },
    SUPPORT_EMAIL: {
      format: formats.email,
      help: "The same, and who gets the answers to mails.",
      example: "help@example.com",
    },
  },
  language: {
    DEFAULT_LOCALE: {
      format: formats.oneOf(...(Object.keys(languages) as Language[])),
      default: "en",
      help: `${formats.names(Object.keys(languages))}; for browsers that ask for no available language, and for mails that no page requested.`,
    },
  },
  metrics: {
    METRICS_PORT: {
      format: formats.port,
      help: "The port for Prometheus. Without it, nothing is counted.",
      example: "9464",
    },
    METRICS_HOST: {
      format: formats.host,
      default: "127.0.0.1",
      help: "The address for Prometheus. There is no login.",
    },
  },
} satisfies Record<string, Record<string, Setting>>;

/** The intersection of a union's members. */
type All<Group> = (Group extends unknown ? (group: Group) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Declared = All<(typeof settings)[keyof typeof settings]>;

export type Values = {
  readonly [Name in keyof Declared]:
    | (Declared[Name] extends { format: z.ZodType<infer Value> } ? Value : never)
    | (Declared[Name] extends { default: string } ? never : null);
};

/** A setting with a problem has no value. */
export type KnownValues = Partial<Values>;
