import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, describe, expect, expectTypeOf, test } from "vitest";
import { type Config, type Environment, loadConfig, type MailConfig, type SmtpConfig } from "#server/config";
import { languages } from "#server/languages/languages";
import { mailDrivers, mailServices } from "#server/mail-services/services";
import { plainIssuerWarning } from "#server/settings/combinations";
import { either, urlHost } from "#server/settings/formats";
import { providerNames } from "#server/settings/provider-names";
import { ignoredSettings } from "#server/settings/read-settings";
import { settings } from "#server/settings/settings";

const identityProvider = { IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET: "the-client-secret" };
const resend = { MAIL_DRIVER: "resend", RESEND_API_KEY: "re_the-key", MAIL_FROM: "mail@latchkey.example" };
const postmark = { MAIL_DRIVER: "postmark", POSTMARK_SERVER_TOKEN: "pm-the-key", MAIL_FROM: "mail@latchkey.example" };
const smtp = { MAIL_DRIVER: "smtp", SMTP_URL: "smtp://127.0.0.1:25", MAIL_FROM: "mail@latchkey.example" };
const webhookSecret = `whsec_${Buffer.alloc(24, "+/").toString("base64")}`;
const webhook = { WEBHOOK_URL: "https://app.example/webhooks", WEBHOOK_SECRET: webhookSecret };
const postgres = { DATABASE_URL: "postgresql://latchkey@db.example/latchkey" };
const app = { RETURN_ORIGINS: "https://app.example" };
const identityKey = randomBytes(32);
const settingNames = Object.values(settings).flatMap(Object.keys);
const shared = { APP_URL: "https://login.id.example.org", SESSION_DOMAIN: "id.example.org" };

const folder = mkdtempSync(join(tmpdir(), "latchkey-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

const randomSecret = (bytes: number) => `whsec_${randomBytes(bytes).toString("base64")}`;

type Read = [Environment, { [Key in keyof Config]?: unknown }];

/** By problem: the values of its setting that have it, as a list or separated by spaces, beside other settings. */
type Malformed = [problem: string, values: string | string[], others?: Environment];

function fileOf(content: string | Buffer): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, content);
  return path;
}

function problems(environment: Environment): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    const [first, ...lines] = (error as Error).message.split("\n");
    expect({ name: (error as Error).name, first }).toEqual({
      name: "ConfigurationError",
      first: "The configuration is not usable:",
    });
    return lines.map((line) => line.replace(/^ {2}- /, ""));
  }
  return [];
}

const day = 24 * 3_600_000; // ms
const keys = Object.entries(mailServices).map(([driver, { setting }]) => ({ driver, setting }));
const oneOf = (names: readonly string[]) => `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
const notHttps = "must be an https URL, or an http one of a loopback address, without credentials";
const notWeb = "must be an http or https URL, without credentials";

const set = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "x"]));

test.each([
  ["RETURN_ORIGIN", "RETURN_ORIGINS"],
  ["BRAND_COLOUR", "BRAND_COLOR"],
  ["PASSWORD_MIN_LENGHT", "PASSWORD_MIN_LENGTH"],
  ["REGISTRATON", "REGISTRATION"],
  ["app_url", "APP_URL"],
  ["SMTP_URL_FIL", "SMTP_URL_FILE"],
])("%s in the environment is named as almost %s", (name, setting) => {
  expect(ignoredSettings(set(name))).toEqual([`${name} is not a setting; ${setting} is`]);
});

test("no name of other programs in the environment is named", () => {
  const ofOthers = "PATH HOME HOSTNAME MAIL TERM LANG TZ NO_PROXY NODE_ENV PGHOST SMTP_HOST".split(" ");
  expect(ignoredSettings(set(...ofOthers))).toEqual([]);
});

test("no setting in the environment is named", () => {
  expect(ignoredSettings(set(...settingNames, "SMTP_URL_FILE", "IDENTITY_KEY_FILE"))).toEqual([]);
});

test("an empty environment gives every default", { tags: "13.2.3" }, () => {
  expect(loadConfig({})).toEqual({
    production: false,
    relyingPartyId: "localhost",
    appUrl: "http://localhost:3000",
    databaseUrl: "pglite:./data",
    databaseDirectUrl: null,
    port: 3000,
    host: null,
    processes: 1,
    trustedProxies: 0,
    returnOrigins: [],
    afterSignIn: "/dashboard",
    sessionDomain: null,
    deviceBoundSessions: false,
    identityKey: null,
    webhook: null,
    mail: { driver: "log", from: "Latchkey <latchkey@localhost>" },
    metrics: null,
    brand: {
      name: "Latchkey",
      logo: null,
      color: null,
      colors: expect.anything(),
      termsUrl: null,
      privacyUrl: null,
      supportEmail: null,
    },
    accessTokens: null,
    defaultLanguage: "en",
    registration: { mode: "open" },
    passwords: { on: true, minimumLength: 8, breachesUrl: null },
    sessions: { idle: 14 * day, max: 30 * day },
    signInRedirect: false,
    identityProvider: null,
  } satisfies Config);
});

test("every setting is read", () => {
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  const set = {
    NODE_ENV: "production",
    APP_URL: "https://login.latchkey.example/",
    DATABASE_URL: "postgresql://latchkey@pooler.example:6432/latchkey",
    DATABASE_DIRECT_URL: "postgresql://latchkey@a.example,b.example:5433/latchkey?target_session_attrs=read-write",
    PORT: "8080",
    HOST: "::1",
    PROCESSES: "4",
    TRUST_PROXY: "true",
    SESSION_IDLE: "12",
    SESSION_MAX: "24",
    SIGN_IN_REDIRECT: "on",
    IDP_NAME: " Firmen-Login ",
    IDP_LOGOUT: "on",
    METRICS_PORT: "9464",
    METRICS_HOST: "::1",
    BRAND_NAME: " Example & Co. ",
    BRAND_LOGO: fileOf(logo),
    BRAND_COLOR: "#AbCdEf",
    TERMS_URL: "https://example.org/terms",
    PRIVACY_URL: "http://[::1]:8080/privacy",
    SUPPORT_EMAIL: "help@example.org",
    RETURN_ORIGINS: "https://App.example:443/, https://*.latchkey.example,http://localhost:5173",
    AFTER_SIGN_IN: "https://app.example/in?from=latchkey#top",
    SESSION_DOMAIN: "Latchkey.example",
    PASSKEY_RP_ID: "latchkey.example",
    DEVICE_BOUND_SESSIONS: "on",
    IDENTITY_TOKENS: "on",
    ACCESS_TOKENS: "on",
    ACCESS_TOKEN_DAYS: "30",
    IDENTITY_KEY: identityKey.toString("base64"),
    WEBHOOK_URL: "https://App.example:443/webhooks?from=latchkey",
    WEBHOOK_SECRET: webhookSecret,
    WEBHOOK_SESSIONS: "on",
    ...resend,
    MAIL_EVENTS_SECRET: webhookSecret,
    MAIL_API_URL: "https://mail.example/v2/",
    ...identityProvider,
    IDP_PROVIDER: "oidc",
    IDP_ISSUER: "https://sso.example/",
    IDP_AUTHORIZE_URL: "https://sso.example/authorize",
    IDP_TOKEN_URL: "https://sso.example/token",
    IDP_PROFILE_URL: "https://sso.example/me",
    IDP_SCOPE: "openid email",
    IDP_PKCE: "true",
    IDP_TRUST_EMAIL: "true",
    IDP_GROUPS_CLAIM: "https://sso.example/groups",
    DEFAULT_LOCALE: "ja",
    REGISTRATION: "domains",
    REGISTRATION_DOMAINS: "Example.org, example.net",
    PASSWORDS: "off",
    PASSWORD_MIN_LENGTH: "15",
    BREACHED_PASSWORDS: "on",
    BREACHED_PASSWORDS_URL: "https://mirror.example/pwned/",
  };
  const keys = Object.values(mailServices).map(({ setting }) => setting);
  const ofOtherDrivers = ["SMTP_URL", ...keys.filter((name) => name !== "RESEND_API_KEY")];
  expect(settingNames.filter((name) => !(name in set))).toEqual(ofOtherDrivers);
  const config = loadConfig(set);
  expect(config).toEqual({
    production: true,
    relyingPartyId: "latchkey.example",
    appUrl: "https://login.latchkey.example",
    databaseUrl: "postgresql://latchkey@pooler.example:6432/latchkey",
    databaseDirectUrl: "postgresql://latchkey@a.example,b.example:5433/latchkey?target_session_attrs=read-write",
    port: 8080,
    host: "::1",
    processes: 4,
    trustedProxies: 1,
    returnOrigins: ["https://app.example", "https://*.latchkey.example", "http://localhost:5173"],
    afterSignIn: "https://app.example/in?from=latchkey#top",
    sessionDomain: "latchkey.example",
    deviceBoundSessions: true,
    identityKey,
    webhook: { url: "https://app.example/webhooks?from=latchkey", secret: webhookSecret, sessions: true },
    mail: {
      driver: "resend",
      from: resend.MAIL_FROM,
      apiUrl: "https://mail.example/v2",
      apiKey: "re_the-key",
      eventsSecret: webhookSecret,
    },
    metrics: { host: "::1", port: 9464 },
    brand: {
      name: "Example & Co.",
      logo: { type: "image/svg+xml", content: Buffer.from(logo) },
      color: "#abcdef",
      colors: expect.anything(),
      termsUrl: "https://example.org/terms",
      privacyUrl: "http://[::1]:8080/privacy",
      supportEmail: "help@example.org",
    },
    defaultLanguage: "ja",
    registration: { mode: "domains", domains: ["example.org", "example.net"] },
    passwords: { on: false, minimumLength: 15, breachesUrl: "https://mirror.example/pwned" },
    sessions: { idle: day / 2, max: day },
    signInRedirect: true,
    accessTokens: { days: 30 },
    identityProvider: {
      provider: "oidc",
      clientId: "a-client",
      clientSecret: "the-client-secret",
      issuer: "https://sso.example/",
      authorizeUrl: "https://sso.example/authorize",
      tokenUrl: "https://sso.example/token",
      profileUrl: "https://sso.example/me",
      scope: "openid email",
      pkce: true,
      trustEmail: true,
      groupsClaim: "https://sso.example/groups",
      name: "Firmen-Login",
      logout: true,
    },
  } satisfies Config);
  expectTypeOf(config).toEqualTypeOf<Readonly<Config>>();
});

test("an empty variable counts as unset", () => {
  const empty = Object.fromEntries(settingNames.map((name) => [name, ""]));
  expect(loadConfig({ ...empty, DATABASE_URL_FILE: "" })).toEqual(loadConfig({}));
});

describe("a setting is read", () => {
  const credentials = { clientId: "a-client", clientSecret: "the-client-secret" };
  const endpoints = { issuer: null, authorizeUrl: null, tokenUrl: null, profileUrl: null };
  const google = { provider: "google", ...credentials, ...endpoints, scope: null, pkce: false, name: null };
  const parsedMail = { from: "mail@latchkey.example", apiUrl: null };
  test.each<Read>([
    [{ PORT: "8080" }, { port: 8080, appUrl: "http://localhost:8080" }],
    [{ PORT: "8080", APP_URL: "https://latchkey.example:443" }, { appUrl: "https://latchkey.example" }],
    ...["127.0.0.1", "::", "0:0:0:0:0:0:0:1", "localhost", "db-1.internal"].map<Read>((host) => [
      { HOST: host },
      { host },
    ]),
    [{ TRUST_PROXY: "false" }, { trustedProxies: 0 }],
    [{ TRUST_PROXY: "2" }, { trustedProxies: 2 }],
    [{ SESSION_MAX: "8" }, { sessions: { idle: day / 3, max: day / 3 } }],
    [{ SESSION_MAX: "8760" }, { sessions: { idle: 14 * day, max: 365 * day } }],
    [{ PROCESSES: "1" }, { processes: 1 }],
    [{ ...postgres, PROCESSES: "auto" }, { processes: availableParallelism() }],
    [{ METRICS_PORT: "9464" }, { metrics: { host: "127.0.0.1", port: 9464 } }],
    [{ METRICS_HOST: "::" }, { metrics: null }],
    [
      { BREACHED_PASSWORDS: "on" },
      { passwords: { on: true, minimumLength: 8, breachesUrl: "https://api.pwnedpasswords.com" } },
    ],
    [{ PASSWORD_MIN_LENGTH: "64" }, { passwords: { minimumLength: 64, breachesUrl: null } }],
    [{ REGISTRATION: "closed" }, { registration: { mode: "closed" } }],
    [{ REGISTRATION: "closed", REGISTRATION_DOMAINS: "example.org" }, { registration: { mode: "closed" } }],
    [{ BRAND_NAME: "Example" }, { mail: { driver: "log", from: "Example <latchkey@localhost>" } }],
    [{ BRAND_NAME: "Example", MAIL_FROM: "a@b.example" }, { mail: { driver: "log", from: "a@b.example" } }],
    ...['"Doe, Jane" <jane@example.com>', "<jane@example.com>", "Jane <3 <jane@example.com>"].map(
      (from): Read => [{ MAIL_FROM: from }, { mail: { driver: "log", from } }],
    ),
    [postmark, { mail: { ...parsedMail, driver: "postmark", apiKey: "pm-the-key" } }],
    [identityProvider, { identityProvider: google }],
    [{ IDP_NAME: "" }, { identityProvider: null }],
    ...providerNames
      .filter((provider) => provider !== "oidc")
      .map<Read>((provider) => [
        { ...identityProvider, IDP_PROVIDER: provider },
        { identityProvider: expect.objectContaining({ provider, issuer: null }) },
      ]),
    [{ IDP_PROVIDER: "oidc" }, { identityProvider: null }],
    [{ IDENTITY_TOKENS: "off", IDENTITY_KEY: identityKey.toString("base64") }, { identityKey: null }],
    [{ IDENTITY_TOKENS: "on", IDENTITY_KEY: `${"/".repeat(42)}8=` }, { identityKey: Buffer.alloc(32, 255) }],
    ...["http://127.0.0.1:8000/", "http://[::1]/in", "https://10.0.0.5/in"].map<Read>((url) => [
      { ...webhook, WEBHOOK_URL: url },
      { webhook: { url } },
    ]),
    ...[24, 64]
      .map(randomSecret)
      .map<Read>((secret) => [{ ...webhook, WEBHOOK_SECRET: secret }, { webhook: { secret } }]),
    [{ AFTER_SIGN_IN: "/" }, { afterSignIn: "/" }],
    [{ AFTER_SIGN_IN: "/a/../b c" }, { afterSignIn: "/b%20c" }],
    [{ AFTER_SIGN_IN: "http://localhost:3000/home" }, { afterSignIn: "http://localhost:3000/home" }],
    [{ ...app, AFTER_SIGN_IN: "HTTPS://App.example:443" }, { afterSignIn: "https://app.example/" }],
    ...["https://*.id.example.org", "https://*.apps.id.example.org"].map<Read>((origin) => [
      { ...shared, RETURN_ORIGINS: origin },
      { returnOrigins: [origin] },
    ]),
    ...["example.org", "id.example.co.uk", "team.github.io", "xn--bcher-kva.example", "corp.internal"].flatMap<Read>(
      (domain) => [
        [{ SESSION_DOMAIN: domain, APP_URL: `https://${domain}` }, { sessionDomain: domain }],
        [{ SESSION_DOMAIN: domain, APP_URL: `https://login.${domain}:8443` }, { sessionDomain: domain }],
        [{ PASSKEY_RP_ID: domain, APP_URL: `https://login.${domain}:8443` }, { relyingPartyId: domain }],
      ],
    ),
  ])("%j", (environment, expected) => {
    expect(loadConfig(environment)).toMatchObject(expected);
  });

  const login = { user: "a b", pass: "p@ss/ü" };
  const remote = { host: "mail.example", loopback: false, login };
  test.each<[string, Omit<SmtpConfig["server"], "implicitTls">]>([
    ["smtps://a%20b:p%40ss%2F%C3%BC@Mail.example", { ...remote, port: 465 }],
    ["smtp://a%20b:p%40ss%2F%C3%BC@mail.example/?tls.rejectUnauthorized=false", { ...remote, port: 587 }],
    ["smtp://127.0.0.1:25", { host: "127.0.0.1", port: 25, loopback: true, login: null }],
    ["smtp://localhost", { host: "localhost", port: 587, loopback: true, login: null }],
    ["smtps://a%20b:p%40ss%2Fü@[::1]:4650", { host: "::1", port: 4650, loopback: true, login }],
  ])("SMTP_URL=%s", (url, others) => {
    const server = { ...others, implicitTls: url.startsWith("smtps:") };
    const mail = { driver: "smtp", from: smtp.MAIL_FROM, server } satisfies MailConfig;
    expect(loadConfig({ ...smtp, SMTP_URL: url }).mail).toEqual(mail);
  });
});

const written = Object.entries({ "::1": "[::1]", "127.0.0.1": "127.0.0.1", localhost: "localhost" });
test.each(written)("HOST=%s stands in a URL as %s", (host, written) => {
  expect(new URL(`http://${urlHost(host)}:3000`).hostname).toBe(written);
});

const oneProcess = "PROCESSES must be 1 with the embedded database, which belongs to one process";
const badLogo = "BRAND_LOGO must be an SVG or PNG file that can be read, of at most 100 KiB";
const badUrl = "DATABASE_URL must be a postgresql:// URL, or pglite: and a folder";
const outside = "RETURN_ORIGINS must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN";

const origins = "RETURN_ORIGINS must be origins such as https://app.example.org, separated by commas";
const domains = ["SESSION_DOMAIN", "PASSKEY_RP_ID"];
const notADomain = "must be a domain such as example.org, of two labels or more and no public suffix";
const notAParent = "must be the host of an https APP_URL, or a parent of it";

const malformed: Malformed[] = [
  [
    "APP_URL must be an origin such as https://login.example.com: no path, query or credentials",
    "latchkey.example ftp://latchkey.example https://latchkey.example/app https://latchkey.example/?a https://a:b@c.example",
    { SESSION_DOMAIN: "example.org", AFTER_SIGN_IN: "https://login.example.org/home" },
  ],
  [badUrl, "mysql://localhost/latchkey pglite:"],
  [badUrl, "mysql://db.example", { PROCESSES: "2" }],
  [
    "DATABASE_URL must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded",
    `postgresql:u:p@h/db postgresql:/u:p@h/db postgresql://u:1/p@h/db postgresql://u:1/p#@h/db postgresql://u@h
     postgresql://u:12/pa?x@h/db postgresql://u:80/s3?sslx@h/db postgresql://u@h/
     postgresql://u@a:5432,b:x/db postgresql://u@a:5432,/db?target_session_attrs=read-write`,
  ],
  [
    "DATABASE_URL has several hosts: it needs target_session_attrs=read-write",
    "postgresql://u@a,b/db postgresql://u@a:1,[::1]:2/db?target_session_attrs=any",
  ],
  ["DATABASE_DIRECT_URL must be a postgresql:// URL", "mysql://h/db pglite:./data", postgres],
  [
    "DATABASE_DIRECT_URL must not be set with the embedded database, which has no pooler",
    "postgresql://latchkey@db.example/latchkey",
  ],
  ..."ssl=no-verify sslmode= sslMode=verify-full sslmode=allow sslcertificate=x requiressl=1 uselibpqcompat=true"
    .split(" ")
    .map<Malformed>((parameter) => [
      `DATABASE_URL has an unknown parameter or value of TLS (${parameter.split("=")[0]}): use sslmode=verify-full for TLS`,
      `postgresql://u@h/db?${parameter}`,
    ]),
  ["PORT must be a port number", ["http", "0", "65536", "3000.5", " "]],
  [
    "HOST must be an address or a host name",
    ["http://localhost", "localhost:3000", "[::1]", "::1::", "fe80::1%eth0", "999.1.1.1", "a b", "a/b", "a@b", " "],
  ],
  ["METRICS_PORT must be a port number", "true 0"],
  ["METRICS_PORT must be another port than PORT", "3000"],
  ["METRICS_PORT must be another port than PORT", "8080", { PORT: "8080" }],
  ["METRICS_HOST must be an address or a host name", "http://localhost"],
  [
    "TRUST_PROXY must be true, false or the number of proxies, at most 9, or their addresses and networks, without host bits or /0, e.g. 127.0.0.1, 10.0.0.0/8",
    "yes -1 1.5 10 1,127.0.0.1 10.0.0.1/8 10.0.0.0/33 127.1 0.0.0.0/0 ::/0 ::1/129 ::ffff:10.0.0.0/104 fe80::1%eth0 127.0.0.1, localhost",
  ],
  ["SESSION_IDLE must be a number of hours from 1 to 8760", "0 -1 1.5 8761 1h"],
  ["SESSION_MAX must be a number of hours from 1 to 8760", "0 8761 x"],
  ["PROCESSES must be auto, or a number from 1 to 99", "0 -1 100 2.5 many 2,"],
  [oneProcess, "2"],
  [oneProcess, "99", { DATABASE_URL: "pglite:./data" }],
  [`DEFAULT_LOCALE must be ${either(Object.keys(languages))}`, "xx EN"],
  [
    "BRAND_NAME must be 1 to 60 printable characters without < and >",
    ["a".repeat(61), "two\nlines", "a<b", "right\u202eleft", " "],
  ],
  [
    "IDP_NAME must be 1 to 40 printable characters without < and >",
    ["a".repeat(41), "a>b", "two\nlines", " "],
    { ...identityProvider, IDP_PROVIDER: "oidc", IDP_ISSUER: "https://sso.example" },
  ],
  ["BRAND_COLOR must be a colour as #rrggbb", "teal #0b6 #0b6355;}"],
  [badLogo, "/nowhere/logo.svg tests package.json"],
  [`TERMS_URL ${notHttps}`, "http://example.org/terms javascript:alert(1)"],
  [`PRIVACY_URL ${notHttps}`, "/privacy"],
  ["SUPPORT_EMAIL must be an email address", ["help", "help@example.org\n"]],
  [
    `WEBHOOK_URL ${notHttps}`,
    "http://app.example/ app.example https://ada@app.example/ https://:s3cret@app.example/ http://10.0.0.5/ ftp://localhost/",
    webhook,
  ],
  [
    "WEBHOOK_SECRET must be whsec_ and the base64 of 24 to 64 bytes",
    [
      ...[23, 65].map(randomSecret),
      ...[webhookSecret.slice(6), `${webhookSecret}=`, `${webhookSecret}\n`, `whsec_${"-_".repeat(16)}`, "whsec_", " "],
    ],
    webhook,
  ],
  [`MAIL_DRIVER must be ${oneOf(["log", ...mailDrivers])}`, "sendmail"],
  [
    "SMTP_URL must be smtps://user:password@host:465 or smtp://user:password@host:587, in user and password %40 for @",
    `mail.example:587 http://a:b@mail.example smtp:a:b@mail.example smtp:/// smtp://a:b@:25 smtp://a:b@mail.example/path
     smtp://a:b@mail.example:70000 smtp://mail.example:587 smtps://a@mail.example smtps://:b@mail.example
     smtp://a:%zz@mail.example smtp://user:p@ss@mail.example:587 smtp://user:p@ss#word@mail.example:587 smtp://127.0.0.1.mail.example smtp://128.0.0.1`,
  ],
  [
    "MAIL_FROM must be an address, or a name and an <address>",
    ["Latchkey", "a@b.example\r\nBcc: c@d.example", "Ada <a@b.example", "Ada a@b.example>", "a@b.example, c@d.example"],
  ],
  [`MAIL_API_URL ${notHttps}`, "mail.example http://mail.example ftp://127.0.0.1 https://a:b@mail.example"],
  ...keys.map<Malformed>(({ setting }) => [
    `${setting} must be printable ASCII without spaces`,
    ["with a space", "a\nline"],
  ]),
  [`IDP_PROVIDER must be ${oneOf(providerNames)}`, "facebook __proto__", identityProvider],
  [
    `IDP_ISSUER ${notWeb}, query or fragment`,
    "sso.example https://a@sso.example https://sso.example?a=b https://sso.example#a",
  ],
  [`IDP_AUTHORIZE_URL ${notWeb}`, "javascript:alert(1)"],
  [`IDP_TOKEN_URL ${notWeb}`, "/token https://a:b@id.example/token"],
  [`IDP_PROFILE_URL ${notWeb}`, "file:///etc/passwd"],
  ["IDP_SCOPE must not be blank", [" "]],
  ["PASSWORD_MIN_LENGTH must be a number from 8 to 64", ["7", "65", "8.5", "08", "-8", "eight", " "]],
  ["BREACHED_PASSWORDS must be on or off", "true ON"],
  [`BREACHED_PASSWORDS_URL ${notHttps}`, "mirror.example http://mirror.example"],
  ["REGISTRATION must be open, closed or domains", "Closed invited", { REGISTRATION_DOMAINS: "a.example" }],
  ["REGISTRATION_DOMAINS is set, but REGISTRATION is not domains", "a.example"],
  [
    "REGISTRATION_DOMAINS must be domains, e.g. example.org,example.net",
    "@a.example *.a.example a.example,,b.example localhost m\u00fcnchen.example",
    { REGISTRATION: "domains" },
  ],
  ["IDENTITY_TOKENS must be on or off", "true On"],
  [
    "IDENTITY_KEY must be 32 bytes in base64, e.g. made by `openssl rand -base64 32`",
    [16, 31, 33].map((size) => randomBytes(size).toString("base64")).concat("a".repeat(43), " ", `${"-".repeat(43)}=`),
    { IDENTITY_TOKENS: "on" },
  ],
  [
    "AFTER_SIGN_IN must be a path, or a URL of APP_URL or of RETURN_ORIGINS",
    `home //app.example /\\app.example /..//app.example https://app.example.evil.example/ https://app.example:8443/
     http://app.example/ https://app.example@evil.example/ https://user@app.example/ javascript:alert(1)
     http://localhost:3000/ /${"a".repeat(2_048)}`,
    { ...app, PORT: "8080" },
  ],
  [
    origins,
    `app.example https://a.example/path https://a.example/?query https://user@a.example https://a.example, null *
     ftp://a.example https://* https://a.*.example https://*.*.example https://a;sandbox.example`,
    shared,
  ],
  [origins, ["https://a.example https://b.example"], shared],
  [outside, "https://*.id.example.org http://*.id.example.org"],
  [outside, "https://*.id.example.org", { APP_URL: shared.APP_URL }],
  [
    outside,
    `https://*.example.org https://*.evilid.example.org http://*.id.example.org https://*.id.example.org:8443
     https://app.example,https://*.org`,
    shared,
  ],
  ...[
    ["org", "https://example.org"],
    ["localhost", "https://localhost"],
    ["co.uk", "https://example.co.uk"],
    ["github.io", "https://team.github.io"],
    ["example.ck", "https://login.example.ck"],
    ["192.0.2.1", "https://192.0.2.1"],
    ["2.1", "https://192.0.2.1"],
    ["[2001:db8::1]", "https://[2001:db8::1]"],
    [".example.org example.org. example..org *.example.org https://example.org", "https://login.example.org"],
    ["example.org;Path=/x", "https://login.example.org"],
    ["b\u00fccher.example", "https://login.xn--bcher-kva.example"],
  ].flatMap<Malformed>(([domain = "", APP_URL]) =>
    domains.map<Malformed>((name) => [`${name} ${notADomain}`, domain, { APP_URL }]),
  ),
  ...["", "http://login.example.org", "https://login.example.com", "https://notexample.org", "https://org.example"]
    .concat("https://example.org.b.example")
    .flatMap<Malformed>((APP_URL) =>
      domains.map<Malformed>((name) => [`${name} ${notAParent}`, "example.org", { APP_URL }]),
    ),
];

describe.each(malformed)("%s", (problem, values, others = {}) => {
  const [name = ""] = problem.split(" ", 1);
  test.each(typeof values === "string" ? values.split(/\s+/) : values)(`${name}=%s`, (value) => {
    expect(problems({ ...others, [name]: value })).toEqual([problem]);
  });
});

const entra = "https://login.microsoftonline.com";
const publicProvider = "IDP_TRUST_EMAIL must be false: anybody can have an account with any address at this provider";
const trusted = {
  ...identityProvider,
  IDP_PROVIDER: "oidc",
  IDP_ISSUER: `${entra}/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0`,
  IDP_TRUST_EMAIL: "true",
};
const publicGroups = "IDP_GROUPS_CLAIM must not be set: anybody can have a group of any name at this provider";
const withGroups = { ...trusted, IDP_TRUST_EMAIL: "false", IDP_GROUPS_CLAIM: "groups" };
const publicIssuers = [
  ...["common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad", "Common"].map(
    (tenant) => `${entra}/${tenant}/v2.0`,
  ),
  "https://LOGIN.microsoftonline.us/common/v2.0",
  "https://login.partner.microsoftonline.cn/organizations/v2.0",
  "https://sts.windows.net/common/",
  "https://accounts.google.com",
  "https://accounts.google.com:443",
  "https://Accounts.Google.com.",
  "https://api.login.yahoo.com",
  "https://gitlab.com",
];

test.each([
  trusted.IDP_ISSUER,
  "https://auth.example.com/application/o/latchkey/",
  "https://id.example.com/common",
  "https://gitlab.example.com",
])("IDP_TRUST_EMAIL trusts the issuer %s of one organisation", (issuer) => {
  const { identityProvider: provider } = loadConfig({ ...trusted, IDP_ISSUER: issuer });
  expect(provider).toMatchObject({ issuer, trustEmail: true });
  expect(loadConfig({ ...trusted, IDP_TRUST_EMAIL: "false" }).identityProvider).toMatchObject({ trustEmail: false });
});

const plainIssuer = { ...identityProvider, IDP_PROVIDER: "oidc", IDP_ISSUER: "http://id.internal" };

test("an http issuer of a private network may have http endpoints", () => {
  const endpoints = { IDP_TOKEN_URL: "http://id.internal/token", IDP_PROFILE_URL: "http://id.internal/me" };
  expect(problems({ ...plainIssuer, ...endpoints })).toEqual([]);
});

test.each([
  ["http://id.internal", 1],
  ["http://localhost:4000", 0],
  ["https://id.example", 0],
])("the issuer %s is warned of %i times", (issuer, count) => {
  expect(plainIssuerWarning(issuer)).toHaveLength(count);
});

test.each<[problem: string, environment: Environment]>([
  ["IDP_CLIENT_SECRET is missing: IDP_CLIENT_ID is set", { IDP_CLIENT_ID: "a-client" }],
  ["IDP_CLIENT_ID is missing: IDP_CLIENT_SECRET is set", { IDP_CLIENT_SECRET: "a-secret" }],
  ["IDP_CLIENT_ID is missing: IDP_CLIENT_SECRET is set", { IDP_CLIENT_SECRET_FILE: fileOf("a-secret") }],
  ["WEBHOOK_SECRET is missing: WEBHOOK_URL is set", { WEBHOOK_URL: webhook.WEBHOOK_URL }],
  ["WEBHOOK_URL is missing: WEBHOOK_SECRET is set", { WEBHOOK_SECRET: webhookSecret }],
  ["WEBHOOK_URL is missing: WEBHOOK_SESSIONS is on", { WEBHOOK_SESSIONS: "on" }],
  ["IDP_ISSUER is missing: IDP_PROVIDER is oidc", { ...identityProvider, IDP_PROVIDER: "oidc" }],
  ["IDP_TRUST_EMAIL must be false: IDP_PROVIDER is not oidc", { ...identityProvider, IDP_TRUST_EMAIL: "true" }],
  ...publicIssuers.map((issuer): [string, Environment] => [publicProvider, { ...trusted, IDP_ISSUER: issuer }]),
  [publicProvider, { ...trusted, IDP_AUTHORIZE_URL: `${entra}/common/oauth2/v2.0/authorize` }],
  [publicProvider, { ...trusted, IDP_TOKEN_URL: `${entra}/common/oauth2/v2.0/token` }],
  ["IDP_GROUPS_CLAIM must not be set: IDP_PROVIDER is not oidc", { ...identityProvider, IDP_GROUPS_CLAIM: "groups" }],
  ["IDP_GROUPS_CLAIM must not be set: IDP_PROVIDER is not oidc", { IDP_GROUPS_CLAIM: "groups" }],
  ...publicIssuers.map((issuer): [string, Environment] => [publicGroups, { ...withGroups, IDP_ISSUER: issuer }]),
  [publicGroups, { ...withGroups, IDP_AUTHORIZE_URL: `${entra}/common/oauth2/v2.0/authorize` }],
  ["SMTP_URL is missing: MAIL_DRIVER is smtp", { ...smtp, SMTP_URL: "" }],
  ...keys.map(({ driver, setting }): [string, Environment] => [
    `${setting} is missing: MAIL_DRIVER is ${driver}`,
    { ...resend, MAIL_DRIVER: driver, RESEND_API_KEY: "" },
  ]),
  ["MAIL_FROM is missing: a mail service needs the sender's address", { ...resend, MAIL_FROM: "" }],
  ["APP_URL is missing: mailed links need the public address of this service", { ...postmark, NODE_ENV: "production" }],
  ["REGISTRATION_DOMAINS is missing: REGISTRATION is domains", { REGISTRATION: "domains" }],
  ["PASSWORDS must be on: no provider is configured (IDP_CLIENT_ID)", { PASSWORDS: "off" }],
  [`IDP_TOKEN_URL ${notHttps}`, { ...identityProvider, IDP_TOKEN_URL: "http://id.example/token" }],
  [`IDP_PROFILE_URL ${notHttps}`, { ...identityProvider, IDP_PROFILE_URL: "http://id.example/me" }],
  ["IDP_NAME must not be set: IDP_PROVIDER is not oidc", { ...identityProvider, IDP_NAME: "Example" }],
  ...["google", "github", "discord"].map((name): [string, Environment] => [
    `IDP_LOGOUT must be off: ${name} has no logout for applications (end_session_endpoint)`,
    { ...identityProvider, IDP_PROVIDER: name, IDP_LOGOUT: "on" },
  ]),
  ["SIGN_IN_REDIRECT must be off: no provider is configured (IDP_CLIENT_ID)", { SIGN_IN_REDIRECT: "on" }],
  ["IDENTITY_KEY is missing: IDENTITY_TOKENS is on. `openssl rand -base64 32` makes one", { IDENTITY_TOKENS: "on" }],
])("%s", (problem, environment) => {
  expect(problems(environment)).toEqual([problem]);
});

test("one message lists every problem", () => {
  const names = problems({
    NODE_ENV: "production",
    APP_URL: "nowhere",
    DATABASE_URL_FILE: join(folder, "none"),
    PORT: "none",
    PROCESSES: "2",
    TRUST_PROXY: "maybe",
    MAIL_DRIVER: "resend",
    MAIL_API_URL: "nowhere",
    IDP_PROVIDER: "nobody",
    IDP_CLIENT_ID: "a-client",
    IDP_TOKEN_URL: "nowhere",
    SESSION_DOMAIN: "org",
    METRICS_PORT: "none",
  }).map((problem) => problem.split(" ", 1)[0]);
  const first = "APP_URL PORT TRUST_PROXY DATABASE_URL_FILE RESEND_API_KEY MAIL_API_URL";
  const then = "IDP_CLIENT_SECRET IDP_PROVIDER IDP_TOKEN_URL SESSION_DOMAIN METRICS_PORT MAIL_FROM";
  expect(names.join(" ")).toBe(`${first} ${then}`);
});

describe("a logo is read and checked", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8"><path d="M0 0"/></svg>';
  const load = (content: string | Buffer) => loadConfig({ BRAND_LOGO: fileOf(content) }).brand.logo;
  const refusal = (content: string | Buffer) => problems({ BRAND_LOGO: fileOf(content) });

  test.each<[string, string | Buffer]>([
    ["image/png", png],
    ["image/svg+xml", svg],
    ["image/svg+xml", `\ufeff<?xml version="1.0"?>\n<!-- a <b> -->\n<!DOCTYPE svg PUBLIC "a" "b">\n${svg}\n<!-- -->\n`],
    ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])("%s is known by its content", (type, content) => {
    expect(load(content)).toEqual({ type, content: Buffer.from(content) });
  });

  test.each<[string, string | Buffer]>([
    ["a page", `<!doctype html><html><body>${svg}</body></html>`],
    ["a page after a comment", `<!-- <svg --><html xmlns="http://www.w3.org/2000/svg"></html>`],
    ["an SVG without its namespace", "<svg></svg>"],
    ["entities of its own", `<!DOCTYPE svg [<!ENTITY a "b">]>${svg}`],
    ["no UTF-8", Buffer.concat([Buffer.from(svg.slice(0, -6)), Buffer.from([0xff]), Buffer.from("</svg>")])],
    ["a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ["an empty file", ""],
  ])("not %s", (_what, content) => {
    expect(refusal(content)).toEqual([badLogo]);
  });

  test("of at most 100 KiB", () => {
    const padded = (size: number) => svg.replace("M0 0", "M0 0".padEnd(size - svg.length + 4));
    expect(load(padded(102_400))).toMatchObject({ type: "image/svg+xml" });
    expect(refusal(padded(102_401))).toEqual([badLogo]);
  });
});

test("a setting that is no secret is read from no file", () => {
  expect(loadConfig({ PORT_FILE: fileOf("8080") }).port).toBe(3000);
});

describe("the file of a secret", () => {
  const noKey = { ...resend, RESEND_API_KEY: undefined };
  const noToken = { ...postmark, POSTMARK_SERVER_TOKEN: undefined };
  const client = { IDP_CLIENT_ID: "a-client" };
  const clientSecret = (secret: string) => ({ identityProvider: { clientSecret: secret } });

  test.each<[string, ...Read]>([
    [
      "a database's URL",
      { DATABASE_URL_FILE: fileOf(`${postgres.DATABASE_URL}\n`) },
      { databaseUrl: postgres.DATABASE_URL },
    ],
    [
      "a mail server's URL",
      { ...smtp, SMTP_URL: "", SMTP_URL_FILE: fileOf("smtp://[::1]") },
      { mail: { server: { host: "::1" } } },
    ],
    ["a key", { ...noKey, RESEND_API_KEY_FILE: fileOf("s3cret\r\n") }, { mail: { apiKey: "s3cret" } }],
    ["a token", { ...noToken, POSTMARK_SERVER_TOKEN_FILE: fileOf("s3cret") }, { mail: { apiKey: "s3cret" } }],
    [
      "a webhook's secret",
      { ...webhook, WEBHOOK_SECRET: "", WEBHOOK_SECRET_FILE: fileOf(`${webhookSecret}\n`) },
      { webhook: { secret: webhookSecret } },
    ],
    [
      "a secret of mail events",
      { ...resend, MAIL_EVENTS_SECRET_FILE: fileOf(`${webhookSecret}\n`) },
      { mail: { eventsSecret: webhookSecret } },
    ],
    ["two line breaks", { ...client, IDP_CLIENT_SECRET_FILE: fileOf("s3cret\n\n") }, clientSecret("s3cret\n")],
    [
      "an encryption key",
      { IDENTITY_TOKENS: "on", IDENTITY_KEY_FILE: fileOf(`${identityKey.toString("base64")}\n`) },
      { identityKey },
    ],
    ["spaces", { ...client, IDP_CLIENT_SECRET_FILE: fileOf(" s3cret ") }, clientSecret(" s3cret ")],
  ])("may have %s", (_what, environment, expected) => {
    expect(loadConfig(environment)).toMatchObject(expected);
  });

  test.each<[problem: string, environment: Environment]>([
    [
      "IDP_CLIENT_SECRET_FILE must not be set together with IDP_CLIENT_SECRET",
      { ...identityProvider, IDP_CLIENT_SECRET_FILE: fileOf("s3cret") },
    ],
    ["RESEND_API_KEY_FILE cannot be read: ENOENT", { ...noKey, RESEND_API_KEY_FILE: join(folder, "none") }],
    ["IDP_CLIENT_SECRET_FILE cannot be read: EISDIR", { ...client, IDP_CLIENT_SECRET_FILE: folder }],
    ["DATABASE_URL_FILE cannot be read: ENOENT", { PROCESSES: "4", DATABASE_URL_FILE: " " }],
    [badUrl, { DATABASE_URL_FILE: fileOf("\n") }],
    ["IDP_CLIENT_SECRET must not be blank", { ...client, IDP_CLIENT_SECRET_FILE: fileOf("\n") }],
  ])("stops a start: %s", (problem, environment) => {
    expect(problems(environment)).toEqual([problem]);
  });
});

test("no message holds a secret", () => {
  const said = [
    { IDP_CLIENT_SECRET: "s3cret" },
    { ...resend, RESEND_API_KEY: "s3cret\u00e9" },
    { ...webhook, WEBHOOK_SECRET: "whsec_s3cret" },
    { ...webhook, WEBHOOK_URL: "https://latchkey:s3cret@app.example/" },
    { ...postmark, POSTMARK_SERVER_TOKEN: "s3cret s3cret" },
    { SMTP_URL: "smtp://latchkey:s3cret@mail.example/path" },
    { ...smtp, SMTP_URL: "", SMTP_URL_FILE: fileOf("smtps://latchkey:s3cret@mail.example:x") },
    { DATABASE_URL: "postgre://latchkey:s3cret@localhost/latchkey" },
    { IDENTITY_KEY: "s3cret" },
    { APP_URL: "https://latchkey:s3cret@latchkey.example" },
  ].map((environment) => problems(environment).join());
  for (const text of said) expect(text).toMatch(/^[A-Z]/);
  expect(said.join()).not.toContain("s3cret");
});

test.each([".env.example", "docs/branding.md"])("an example is read from .env as it is written: in %s", (path) => {
  const lines = [...readFileSync(path, "utf8").matchAll(/^(?:# )?([A-Z][A-Z_]+)=(\S.*)$/gm)];
  expect(lines.length).toBeGreaterThan(5);
  for (const [line, name = "", text = ""] of lines) {
    expect(parseEnv(line.replace(/^# /, ""))).toEqual({ [name]: text.replace(/^"(.*)"$/, "$1") });
  }
});
