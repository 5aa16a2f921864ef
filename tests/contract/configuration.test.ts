import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { type Config, type Environment, loadConfig } from "#server/config";
import type { MailConfig, SmtpConfig } from "#server/settings/mail";

const identityProvider = { IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET: "the-client-secret" };
const resend = { MAIL_DRIVER: "resend", RESEND_API_KEY: "re_the-key", MAIL_FROM: "mail@latchkey.example" };
const postmark = { MAIL_DRIVER: "postmark", POSTMARK_SERVER_TOKEN: "pm-the-key", MAIL_FROM: "mail@latchkey.example" };

/** The problems that the error for this environment lists: every line after the first. */
function problems(environment: Environment, readFile?: (path: string) => string): string[] {
  try {
    loadConfig(environment, readFile);
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

test("an empty environment gives every default", () => {
  const config = loadConfig({});
  expect(config).toEqual({
    production: false,
    appUrl: "http://localhost:3000",
    databaseUrl: "pglite:./data",
    port: 3000,
    processes: 1,
    trustedProxies: 0,
    returnOrigins: [],
    afterSignIn: "/dashboard",
    sessionDomain: null,
    mail: { driver: "log", from: "Latchkey <latchkey@localhost>" },
    metrics: null,
    brand: { name: "Latchkey", logo: null, color: null, termsUrl: null, privacyUrl: null, supportEmail: null },
    defaultLanguage: "en",
    registration: { mode: "open" },
    identityProvider: null,
  } satisfies Config);
  expect(Object.isFrozen(config)).toBe(true);
});

test("every setting is read", () => {
  const config = loadConfig({
    NODE_ENV: "production",
    APP_URL: "https://latchkey.example/",
    DATABASE_URL: "postgresql://latchkey@db.example/latchkey",
    PORT: "8080",
    PROCESSES: "4",
    TRUST_PROXY: "true",
    METRICS_PORT: "9464",
    METRICS_HOST: "::1",
    BRAND_NAME: " Example & Co. ",
    BRAND_COLOR: "#AbCdEf",
    TERMS_URL: "https://example.org/terms",
    PRIVACY_URL: "http://[::1]:8080/privacy",
    SUPPORT_EMAIL: "help@example.org",
    RETURN_ORIGINS: "https://App.example:443/, https://*.latchkey.example,http://localhost:5173",
    AFTER_SIGN_IN: "https://app.example/in?from=latchkey#top",
    SESSION_DOMAIN: "Latchkey.example",
    ...resend,
    MAIL_API_URL: "https://mail.example/v2/",
    ...identityProvider,
    IDP_PROVIDER: "oidc",
    IDP_ISSUER: "https://sso.example/",
    IDP_AUTHORIZE_URL: "https://sso.example/authorize",
    IDP_TOKEN_URL: "https://sso.example/token",
    IDP_PROFILE_URL: "https://sso.example/me",
    IDP_SCOPE: "openid email",
    IDP_PKCE: "true",
    DEFAULT_LOCALE: "ja",
    REGISTRATION: "domains",
    REGISTRATION_DOMAINS: "Example.org, example.net",
  });
  expect(config).toEqual({
    production: true,
    appUrl: "https://latchkey.example",
    databaseUrl: "postgresql://latchkey@db.example/latchkey",
    port: 8080,
    processes: 4,
    trustedProxies: 1,
    returnOrigins: ["https://app.example", "https://*.latchkey.example", "http://localhost:5173"],
    afterSignIn: "https://app.example/in?from=latchkey#top",
    sessionDomain: "latchkey.example",
    mail: {
      driver: "resend",
      from: "mail@latchkey.example",
      apiUrl: "https://mail.example/v2",
      apiKey: "re_the-key",
    },
    metrics: { host: "::1", port: 9464 },
    brand: {
      name: "Example & Co.",
      logo: null,
      color: "#abcdef",
      termsUrl: "https://example.org/terms",
      privacyUrl: "http://[::1]:8080/privacy",
      supportEmail: "help@example.org",
    },
    defaultLanguage: "ja",
    registration: { mode: "domains", domains: ["example.org", "example.net"] },
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
    },
  } satisfies Config);
  expect(loadConfig({ ...postmark }).mail).toEqual({
    driver: "postmark",
    from: "mail@latchkey.example",
    apiUrl: null,
    apiKey: "pm-the-key",
  } satisfies MailConfig);
  expectTypeOf(config).toEqualTypeOf<Readonly<Config>>();
});

describe("PROCESSES", () => {
  const DATABASE_URL = "postgresql://latchkey@db.example/latchkey";

  test("`auto` is one for each core", () => {
    expect(loadConfig({ DATABASE_URL, PROCESSES: "auto" }).processes).toBe(availableParallelism());
  });

  test.each(["0", "-1", "100", "2.5", "many", "2,"])("cannot be %s", (PROCESSES) => {
    expect(problems({ DATABASE_URL, PROCESSES })).toEqual(["PROCESSES must be auto, or a number from 1 to 99"]);
  });

  test("is 1 with the embedded database", () => {
    const refusal = "PROCESSES must be 1 with the embedded database, which belongs to one process";
    expect(problems({ PROCESSES: "2" })).toEqual([refusal]);
    expect(problems({ PROCESSES: "2", DATABASE_URL: "pglite:./data" })).toEqual([refusal]);
    expect(loadConfig({ PROCESSES: "1" }).processes).toBe(1);
  });

  test("is compared with the database, whatever else is wrong", () => {
    const refusal = "PROCESSES must be 1 with the embedded database, which belongs to one process";
    const port = "PORT must be a port number";
    expect(problems({ PROCESSES: "1", DATABASE_URL: "pglite:./data", PORT: "abc" })).toEqual([port]);
    expect(problems({ PROCESSES: "2", PORT: "abc" })).toEqual([port, refusal]);
    expect(problems({ PROCESSES: "100" })).toEqual(["PROCESSES must be auto, or a number from 1 to 99"]);
    expect(problems({ PROCESSES: "2", DATABASE_URL: "mysql://db.example" })).toEqual([
      "DATABASE_URL must be a postgresql:// URL, or pglite: and a folder",
    ]);
    const unreadable = () => {
      throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    };
    expect(problems({ PROCESSES: "4", DATABASE_URL_FILE: "/run/secrets/database-url" }, unreadable)).toEqual([
      "DATABASE_URL_FILE cannot be read: ENOENT",
    ]);
  });
});

describe("REGISTRATION", () => {
  test.each([
    [{ REGISTRATION: "open" }, { mode: "open" }],
    [{ REGISTRATION: "closed" }, { mode: "closed" }],
    [{ REGISTRATION: "closed", REGISTRATION_DOMAINS: "example.org" }, { mode: "closed" }],
    [
      { REGISTRATION: "domains", REGISTRATION_DOMAINS: "a.example" },
      { mode: "domains", domains: ["a.example"] },
    ],
  ])("%j", (environment, registration) => {
    expect(loadConfig(environment).registration).toEqual(registration);
  });

  const malformed = "REGISTRATION_DOMAINS must be domains, e.g. example.org,example.net";
  test.each([
    [{ REGISTRATION: "Closed" }, "REGISTRATION must be open, closed or domains"],
    [{ REGISTRATION: "invited", REGISTRATION_DOMAINS: "a.example" }, "REGISTRATION must be open, closed or domains"],
    [{ REGISTRATION: "domains" }, "REGISTRATION_DOMAINS is missing: REGISTRATION is domains"],
    [{ REGISTRATION_DOMAINS: "a.example" }, "REGISTRATION_DOMAINS is set, but REGISTRATION is not domains"],
    [{ REGISTRATION: "domains", REGISTRATION_DOMAINS: "@a.example" }, malformed],
    [{ REGISTRATION: "domains", REGISTRATION_DOMAINS: "*.a.example" }, malformed],
    [{ REGISTRATION: "domains", REGISTRATION_DOMAINS: "a.example,,b.example" }, malformed],
    [{ REGISTRATION: "domains", REGISTRATION_DOMAINS: "localhost" }, malformed],
    [{ REGISTRATION: "domains", REGISTRATION_DOMAINS: "münchen.example" }, malformed],
  ])("%j is refused", (environment, problem) => {
    expect(problems(environment)).toEqual([problem]);
  });
});

describe("AFTER_SIGN_IN", () => {
  const app = { RETURN_ORIGINS: "https://app.example" };
  const refusal = "AFTER_SIGN_IN must be a path, or a URL of APP_URL or of RETURN_ORIGINS";

  test.each<[string, Environment]>([
    ["/", {}],
    ["/app/home?a=b#c", {}],
    ["http://localhost:3000/home", {}],
    ["https://latchkey.example/home", { APP_URL: "https://latchkey.example" }],
    ["https://app.example/", app],
  ])("may be %s", (afterSignIn, environment) => {
    expect(loadConfig({ ...environment, AFTER_SIGN_IN: afterSignIn }).afterSignIn).toBe(afterSignIn);
  });

  test("is serialised", () => {
    expect(loadConfig({ ...app, AFTER_SIGN_IN: "HTTPS://App.example:443" }).afterSignIn).toBe("https://app.example/");
    expect(loadConfig({ AFTER_SIGN_IN: "/a/../b c" }).afterSignIn).toBe("/b%20c");
  });

  test.each<[string, Environment]>([
    ["home", {}],
    ["//app.example", app],
    ["/\\app.example", app],
    ["/..//app.example", app],
    ["https://app.example.evil.example/", app],
    ["https://app.example:8443/", app],
    ["http://app.example/", app],
    ["https://app.example@evil.example/", app],
    ["https://user@app.example/", app],
    ["javascript:alert(1)", {}],
    ["http://localhost:3000/", { PORT: "8080" }],
    [`/${"a".repeat(2_048)}`, {}],
  ])("cannot be %s", (afterSignIn, environment) => {
    expect(problems({ ...environment, AFTER_SIGN_IN: afterSignIn })).toEqual([refusal]);
  });
});

describe("RETURN_ORIGINS", () => {
  const malformed = "RETURN_ORIGINS must be origins such as https://app.example.org, separated by commas";
  const wildcard = "RETURN_ORIGINS must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN";
  const shared = { APP_URL: "https://login.id.example.org", SESSION_DOMAIN: "id.example.org" };

  test.each([
    "app.example.org",
    "https://app.example.org/path",
    "https://app.example.org/?query",
    "https://user@app.example.org",
    "https://app.example.org,",
    "https://app.example.org https://b.example.org",
    "ftp://app.example.org",
    "https://*",
    "https://app.*.example.org",
    "https://*.*.example.org",
    "https://app;sandbox.example.org",
    "null",
    "*",
  ])("cannot be %s", (origins) => {
    expect(problems({ ...shared, RETURN_ORIGINS: origins })).toEqual([malformed]);
  });

  test.each(["https://*.id.example.org", "https://*.apps.id.example.org"])("may be %s", (origins) => {
    expect(loadConfig({ ...shared, RETURN_ORIGINS: origins }).returnOrigins).toEqual([origins]);
  });

  test.each<[string, Environment]>([
    ["https://*.id.example.org", {}],
    ["https://*.id.example.org", { APP_URL: shared.APP_URL }],
    ["https://*.example.org", shared],
    ["https://*.evilid.example.org", shared],
    ["http://*.id.example.org", shared],
    ["https://*.id.example.org:8443", shared],
    ["https://app.example,https://*.org", shared],
  ])("cannot be %s with %j", (origins, environment) => {
    expect(problems({ ...environment, RETURN_ORIGINS: origins })).toEqual([wildcard]);
  });
});

describe("SESSION_DOMAIN", () => {
  const noDomain = "SESSION_DOMAIN must be a domain such as example.org, of two labels or more and no public suffix";
  const elsewhere = "SESSION_DOMAIN must be the host of an https APP_URL, or a parent of it";

  test.each([
    ["example.org", "https://example.org"],
    ["example.org", "https://login.example.org:8443"],
    ["id.example.co.uk", "https://login.id.example.co.uk"],
    ["team.github.io", "https://login.team.github.io"],
    ["xn--bcher-kva.example", "https://login.xn--bcher-kva.example"],
    ["corp.internal", "https://login.corp.internal"],
  ])("may be %s for %s", (domain, appUrl) => {
    expect(loadConfig({ APP_URL: appUrl, SESSION_DOMAIN: domain }).sessionDomain).toBe(domain);
  });

  describe.each<[problem: string, cases: [domain: string, appUrl: string | undefined][]]>([
    [
      noDomain,
      [
        ["org", "https://example.org"],
        ["localhost", "https://localhost"],
        ["co.uk", "https://example.co.uk"],
        ["github.io", "https://team.github.io"],
        ["example.ck", "https://login.example.ck"],
        ["192.0.2.1", "https://192.0.2.1"],
        ["2.1", "https://192.0.2.1"],
        ["[2001:db8::1]", "https://[2001:db8::1]"],
        [".example.org", "https://login.example.org"],
        ["example.org.", "https://login.example.org"],
        ["example..org", "https://login.example.org"],
        ["*.example.org", "https://login.example.org"],
        ["https://example.org", "https://login.example.org"],
        ["example.org; Path=/x", "https://login.example.org"],
        ["b\u00fccher.example", "https://login.xn--bcher-kva.example"],
      ],
    ],
    [
      elsewhere,
      [
        ["example.org", undefined],
        ["example.org", "http://login.example.org"],
        ["example.org", "https://login.example.com"],
        ["example.org", "https://notexample.org"],
        ["example.org", "https://example.org.evil.example"],
        ["login.example.org", "https://example.org"],
      ],
    ],
  ])("%s", (problem, cases) => {
    test.each(cases)("not %s for %s", (domain, appUrl) => {
      expect(problems({ APP_URL: appUrl, SESSION_DOMAIN: domain })).toEqual([problem]);
    });
  });
});

test("a malformed APP_URL is one problem, whatever is compared with it", () => {
  const others = { SESSION_DOMAIN: "example.org", AFTER_SIGN_IN: "https://login.example.org/home" };
  expect(problems({ ...others, APP_URL: "login.example.org" })).toEqual(["APP_URL must be an http or https URL"]);
});

describe("SMTP_URL names a server", () => {
  const login = { user: "a b", pass: "p@ss/ü" };
  test.each<[string, SmtpConfig["server"]]>([
    [
      "smtps://a%20b:p%40ss%2F%C3%BC@Mail.example",
      { host: "mail.example", port: 465, implicitTls: true, loopback: false, login },
    ],
    [
      "smtp://a%20b:p%40ss%2F%C3%BC@mail.example/?tls.rejectUnauthorized=false",
      { host: "mail.example", port: 587, implicitTls: false, loopback: false, login },
    ],
    ["smtp://127.0.0.1:25", { host: "127.0.0.1", port: 25, implicitTls: false, loopback: true, login: null }],
    ["smtp://localhost", { host: "localhost", port: 587, implicitTls: false, loopback: true, login: null }],
    ["smtps://a%20b:p%40ss%2Fü@[::1]:4650", { host: "::1", port: 4650, implicitTls: true, loopback: true, login }],
  ])("%s", (url, server) => {
    const mail = { driver: "smtp", from: "mail@latchkey.example", server } satisfies MailConfig;
    expect(loadConfig({ MAIL_DRIVER: "smtp", MAIL_FROM: mail.from, SMTP_URL: url }).mail).toEqual(mail);
  });
});

test("the client id and secret alone enable Google", () => {
  expect(loadConfig(identityProvider).identityProvider).toEqual({
    provider: "google",
    clientId: "a-client",
    clientSecret: "the-client-secret",
    issuer: null,
    authorizeUrl: null,
    tokenUrl: null,
    profileUrl: null,
    scope: null,
    pkce: false,
  });
});

test.each(["google", "github", "gitlab", "discord"] as const)("the provider %s needs no other setting", (provider) => {
  expect(loadConfig({ ...identityProvider, IDP_PROVIDER: provider }).identityProvider).toMatchObject({ provider });
});

test("metrics are on loopback by default, and off without a port", () => {
  expect(loadConfig({ METRICS_PORT: "9464" }).metrics).toEqual({ host: "127.0.0.1", port: 9464 });
  expect(loadConfig({ METRICS_HOST: "::" }).metrics).toBeNull();
  expect(problems({ METRICS_PORT: "3000", TRUST_PROXY: "10" })).toEqual([
    "TRUST_PROXY must be true, false or the number of proxies, at most 9",
    "METRICS_PORT must be another port than PORT",
  ]);
});

test("an empty or blank variable counts as unset", () => {
  const names = [
    "APP_URL",
    "DATABASE_URL",
    "PORT",
    "TRUST_PROXY",
    "MAIL_DRIVER",
    "MAIL_FROM",
    "MAIL_API_URL",
    "RETURN_ORIGINS",
    "AFTER_SIGN_IN",
    "SESSION_DOMAIN",
    "IDP_PROVIDER",
    "IDP_CLIENT_ID",
    "IDP_CLIENT_SECRET",
    "IDP_ISSUER",
    "IDP_SCOPE",
    "RESEND_API_KEY",
  ];
  const blank = Object.fromEntries(names.map((name, index) => [name, index % 2 ? "" : " "]));
  expect(loadConfig(blank)).toEqual(loadConfig({}));
});

test("the mailed links follow the port until APP_URL is set", () => {
  expect(loadConfig({ PORT: "8080" }).appUrl).toBe("http://localhost:8080");
  expect(loadConfig({ PORT: "8080", APP_URL: "https://latchkey.example:443" }).appUrl).toBe("https://latchkey.example");
});

describe("a malformed setting is named", () => {
  test.each([
    ["APP_URL", "latchkey.example", "must be an http or https URL"],
    ["APP_URL", "ftp://latchkey.example", "must be an http or https URL"],
    ["APP_URL", "https://latchkey.example/app", "must be an origin: no path, query or credentials"],
    ["APP_URL", "https://latchkey.example/?a", "must be an origin: no path, query or credentials"],
    ["APP_URL", "https://a:b@latchkey.example", "must be an origin: no path, query or credentials"],
    ["DATABASE_URL", "mysql://localhost/latchkey", "must be a postgresql:// URL, or pglite: and a folder"],
    ...[
      "postgresql:u:p@h/db",
      "postgresql:/u:p@h/db",
      "postgresql://u:1/p@h/db",
      "postgresql://u:1/p#@h/db",
      "postgresql://u:12/pa?x@h/db",
      "postgresql://u:80/s3?sslx@h/db",
      "postgresql://u@h",
      "postgresql://u@h/",
    ].map((url) => [
      "DATABASE_URL",
      url,
      "must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded",
    ]),
    ...[
      "ssl=no-verify",
      "sslmode=",
      "sslMode=verify-full",
      "sslmode=allow",
      "sslcertificate=x",
      "requiressl=1",
      "uselibpqcompat=true",
    ].map((parameter) => [
      "DATABASE_URL",
      `postgresql://u@h/db?${parameter}`,
      `has an unknown parameter or value of TLS (${parameter.split("=")[0]}): sslmode=verify-full asks for it`,
    ]),
    ["DATABASE_URL", "pglite:", "must be a postgresql:// URL, or pglite: and a folder"],
    ["PORT", "http", "must be a port number"],
    ["PORT", "0", "must be a port number"],
    ["PORT", "65536", "must be a port number"],
    ["PORT", "3000.5", "must be a port number"],
    ["METRICS_PORT", "true", "must be a port number"],
    ["METRICS_PORT", "0", "must be a port number"],
    ["METRICS_PORT", "3000", "must be another port than PORT"],
    ["BRAND_NAME", "a".repeat(61), "must be 1 to 60 printable characters without < and >"],
    ["BRAND_NAME", "two\nlines", "must be 1 to 60 printable characters without < and >"],
    ["BRAND_NAME", "a<b", "must be 1 to 60 printable characters without < and >"],
    ["BRAND_NAME", "right\u202eleft", "must be 1 to 60 printable characters without < and >"],
    ["BRAND_COLOR", "teal", "must be a colour as #rrggbb"],
    ["BRAND_COLOR", "#0b6", "must be a colour as #rrggbb"],
    ["BRAND_COLOR", "#0b6355;}", "must be a colour as #rrggbb"],
    ["BRAND_LOGO", "/nowhere/logo.svg", "cannot be read: ENOENT"],
    ["BRAND_LOGO", "tests", "cannot be read: EISDIR"],
    ["BRAND_LOGO", "package.json", "must be an SVG or PNG file"],
    ["TERMS_URL", "http://example.org/terms", "must be an https URL"],
    ["TERMS_URL", "javascript:alert(1)", "must be an https URL"],
    ["PRIVACY_URL", "/privacy", "must be an https URL"],
    ["SUPPORT_EMAIL", "help", "must be an email address"],
    ["SUPPORT_EMAIL", "help@example.org\n", "must be an email address"],
    ["METRICS_HOST", "http://localhost", "must be an address or a host name"],
    ["DEFAULT_LOCALE", "pt", "must be en, de, fr, es, ja or ar"],
    ["DEFAULT_LOCALE", "EN", "must be en, de, fr, es, ja or ar"],
    ["TRUST_PROXY", "yes", "must be true, false or the number of proxies, at most 9"],
    ["TRUST_PROXY", "-1", "must be true, false or the number of proxies, at most 9"],
    ["TRUST_PROXY", "1.5", "must be true, false or the number of proxies, at most 9"],
    ["MAIL_DRIVER", "sendmail", "must be log, smtp, resend or postmark"],
    ...[
      "mail.example:587",
      "http://a:b@mail.example",
      "smtp:a:b@mail.example",
      "smtp:///",
      "smtp://a:b@:25",
      "smtp://a:b@mail.example/path",
      "smtp://a:b@mail.example:70000",
      "smtp://mail.example:587",
      "smtps://a@mail.example",
      "smtps://:b@mail.example",
      "smtp://a:%zz@mail.example",
      "smtp://127.0.0.1.mail.example",
      "smtp://128.0.0.1",
    ].map((url): [string, string, string] => [
      "SMTP_URL",
      url,
      "must be smtps://user:password@host:465 or smtp://user:password@host:587",
    ]),
    ["MAIL_FROM", "Latchkey", "must be an address, or a name and an <address>"],
    ["MAIL_FROM", "a@b.example\r\nBcc: c@d.example", "must be an address, or a name and an <address>"],
    ["MAIL_API_URL", "mail.example", "must be an http or https URL"],
    ["RESEND_API_KEY", "re_with a space", "must be printable ASCII without spaces"],
    ["POSTMARK_SERVER_TOKEN", "pm\nline", "must be printable ASCII without spaces"],
    ["IDP_PROVIDER", "facebook", "must be one of google, github, gitlab, discord, oidc"],
    ["IDP_PROVIDER", "__proto__", "must be one of google, github, gitlab, discord, oidc"],
    ["IDP_ISSUER", "sso.example", "must be an http or https URL"],
    ["IDP_AUTHORIZE_URL", "javascript:alert(1)", "must be an http or https URL"],
    ["IDP_TOKEN_URL", "/token", "must be an http or https URL"],
    ["IDP_PROFILE_URL", "file:///etc/passwd", "must be an http or https URL"],
  ])("%s=%s", (name, value, problem) => {
    expect(problems({ [name]: value })).toEqual([`${name} ${problem}`]);
  });
});

test("the log driver's sender has the brand's name", () => {
  expect(loadConfig({ BRAND_NAME: "Example" }).mail.from).toBe("Example <latchkey@localhost>");
  expect(loadConfig({ BRAND_NAME: "Example", MAIL_FROM: "a@b.example" }).mail.from).toBe("a@b.example");
});

describe("a logo is read and checked", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8"><path d="M0 0"/></svg>';
  const load = async (content: string | Buffer, name = "logo") => {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-logo-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, name), content);
    const environment = { BRAND_LOGO: join(folder, name) };
    const said = problems(environment);
    return said.length > 0 ? said : loadConfig(environment).brand.logo;
  };

  test.each<[string, string | Buffer]>([
    ["image/png", png],
    ["image/svg+xml", svg],
    [
      "image/svg+xml",
      `\ufeff<?xml version="1.0"?>\n<!-- a <b> -->\n<!DOCTYPE svg PUBLIC "a" "b">\n${svg}\n<!-- end -->\n`,
    ],
    ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])("%s, by its content", async (type, content) => {
    expect(await load(content, "logo.gif")).toEqual({ type, content: Buffer.from(content) });
  });

  test.each<[string, string | Buffer]>([
    ["a page", `<!doctype html><html><body>${svg}</body></html>`],
    ["a page after a comment", `<!-- <svg --><html xmlns="http://www.w3.org/2000/svg"></html>`],
    ["an SVG without its namespace", "<svg></svg>"],
    ["an SVG that ends early", svg.slice(0, -3)],
    ["entities of its own", `<!DOCTYPE svg [<!ENTITY a "b">]>${svg}`],
    ["no UTF-8", Buffer.concat([Buffer.from(svg.slice(0, -6)), Buffer.from([0xff]), Buffer.from("</svg>")])],
    ["a PNG that ends early", png.subarray(0, -4)],
    ["a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ["an empty file", ""],
  ])("not %s", async (_what, content) => {
    expect(await load(content, "logo.svg")).toEqual(["BRAND_LOGO must be an SVG or PNG file"]);
  });

  test("of at most 100 KiB", async () => {
    const padded = (size: number) => svg.replace("M0 0", "M0 0".padEnd(size - svg.length + 4));
    expect(await load(padded(102_400))).toMatchObject({ type: "image/svg+xml" });
    expect(await load(padded(102_401))).toEqual(["BRAND_LOGO must be at most 100 KiB"]);
  });
});

describe("an example is read from .env as it is written", () => {
  test.each([".env.example", "docs/branding.md"])("in %s", (path) => {
    const lines = [...readFileSync(path, "utf8").matchAll(/^(?:# )?([A-Z][A-Z_]+)=(\S.*)$/gm)];
    expect(lines.length).toBeGreaterThan(5);
    for (const [line, name = "", text = ""] of lines) {
      expect(parseEnv(line.replace(/^# /, ""))).toEqual({ [name]: text.replace(/^"(.*)"$/, "$1") });
    }
  });
});

describe("a missing setting is named", () => {
  test.each<[string, Environment, string[]]>([
    ["the client's secret", { IDP_CLIENT_ID: "a-client" }, ["IDP_CLIENT_SECRET is missing: IDP_CLIENT_ID is set"]],
    ["the client's id", { IDP_CLIENT_SECRET: "a-secret" }, ["IDP_CLIENT_ID is missing: IDP_CLIENT_SECRET is set"]],
    ["an issuer", { ...identityProvider, IDP_PROVIDER: "oidc" }, ["IDP_ISSUER is missing: IDP_PROVIDER is oidc"]],
    ["Resend's key", { ...resend, RESEND_API_KEY: "" }, ["RESEND_API_KEY is missing: MAIL_DRIVER is resend"]],
    [
      "Postmark's token",
      { ...postmark, POSTMARK_SERVER_TOKEN: " " },
      ["POSTMARK_SERVER_TOKEN is missing: MAIL_DRIVER is postmark"],
    ],
    ["the sender", { ...resend, MAIL_FROM: "" }, ["MAIL_FROM is missing: a mail service needs the sender's address"]],
    [
      "the public address in production",
      { ...postmark, NODE_ENV: "production" },
      ["APP_URL is missing: mailed links need the public address of this service"],
    ],
    ["no APP_URL in production with the log driver: no problem", { NODE_ENV: "production" }, []],
    ["no setting of a disabled provider: no problem", { IDP_PROVIDER: "oidc" }, []],
  ])("%s", (_what, environment, expected) => {
    expect(problems(environment)).toEqual(expected);
  });
});

test("one message lists every problem, the malformed and the missing", () => {
  expect(
    problems({
      NODE_ENV: "production",
      APP_URL: "nowhere",
      DATABASE_URL: "nowhere",
      PORT: "none",
      TRUST_PROXY: "maybe",
      MAIL_DRIVER: "resend",
      MAIL_API_URL: "nowhere",
      IDP_PROVIDER: "nobody",
      IDP_CLIENT_ID: "a-client",
      IDP_TOKEN_URL: "nowhere",
    }).map((problem) => problem.split(" ", 1)[0]),
  ).toEqual([
    "APP_URL",
    "DATABASE_URL",
    "PORT",
    "TRUST_PROXY",
    "MAIL_API_URL",
    "IDP_PROVIDER",
    "IDP_TOKEN_URL",
    "RESEND_API_KEY",
    "MAIL_FROM",
    "IDP_CLIENT_SECRET",
  ]);
});

describe("a secret may be in a file", () => {
  const files: Record<string, string> = {
    "/run/database": "postgresql://latchkey:s3cret@db.example/latchkey\n",
    "/run/smtp": "smtps://latchkey:s3cret@mail.example",
    "/run/key": "s3cret\r\n",
    "/run/lines": "s3cret\n\n",
    "/run/spaces": " s3cret ",
    "/run/empty": "\n",
  };
  const readFile = (path: string): string => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error("ENOENT: no such file, s3cret"), { code: "ENOENT" });
    return content;
  };
  const load = (environment: Environment) => loadConfig(environment, readFile);
  const smtp = { MAIL_DRIVER: "smtp", MAIL_FROM: "mail@latchkey.example" };
  const { RESEND_API_KEY: _key, ...resendWithoutKey } = resend;
  const { POSTMARK_SERVER_TOKEN: _token, ...postmarkWithoutToken } = postmark;

  test("each secret is read without a trailing line break", () => {
    expect(load({ DATABASE_URL_FILE: "/run/database" }).databaseUrl).toBe(
      "postgresql://latchkey:s3cret@db.example/latchkey",
    );
    expect(load({ ...smtp, SMTP_URL_FILE: "/run/smtp" }).mail).toMatchObject({ server: { login: { pass: "s3cret" } } });
    expect(load({ ...resendWithoutKey, RESEND_API_KEY_FILE: "/run/key" }).mail).toMatchObject({ apiKey: "s3cret" });
    expect(load({ ...postmarkWithoutToken, POSTMARK_SERVER_TOKEN_FILE: "/run/key" }).mail).toMatchObject({
      apiKey: "s3cret",
    });
    const client = { IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET_FILE: "/run/key" };
    expect(load(client).identityProvider).toMatchObject({ clientSecret: "s3cret" });
  });

  test("at most one trailing line break is removed", () => {
    const secretOf = (path: string) =>
      load({ IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET_FILE: path }).identityProvider?.clientSecret;
    expect(secretOf("/run/lines")).toBe("s3cret\n");
    expect(secretOf("/run/spaces")).toBe(" s3cret ");
  });

  test("a blank path counts as unset, and other settings have no file variable", () => {
    expect(load({ DATABASE_URL_FILE: " ", PORT_FILE: "/run/key", IDP_CLIENT_ID_FILE: "/run/key" })).toEqual(load({}));
  });

  test.each<[string, Environment, string[]]>([
    [
      "both set",
      { ...identityProvider, IDP_CLIENT_SECRET_FILE: "/run/key" },
      ["IDP_CLIENT_SECRET_FILE must not be set together with IDP_CLIENT_SECRET"],
    ],
    [
      "no file",
      { ...resendWithoutKey, RESEND_API_KEY_FILE: "/run/none" },
      ["RESEND_API_KEY_FILE cannot be read: ENOENT"],
    ],
    ["an empty file", { DATABASE_URL_FILE: "/run/empty" }, ["DATABASE_URL_FILE is empty"]],
    [
      "a malformed secret",
      { ...smtp, SMTP_URL_FILE: "/run/key" },
      ["SMTP_URL must be smtps://user:password@host:465 or smtp://user:password@host:587"],
    ],
    [
      "several",
      { PORT: "none", DATABASE_URL_FILE: "/run/none", IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET_FILE: "/run/none" },
      [
        "DATABASE_URL_FILE cannot be read: ENOENT",
        "IDP_CLIENT_SECRET_FILE cannot be read: ENOENT",
        "PORT must be a port number",
      ],
    ],
  ])("a problem is reported without the file's content: %s", (_what, environment, expected) => {
    const said = problems(environment, readFile);
    expect(said).toEqual(expected);
    expect(said.join()).not.toContain("s3cret");
  });

  test("by default the files are read from the file system", async () => {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-secret-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "secret"), "s3cret\n");
    const client = (path: string) => ({ IDP_CLIENT_ID: "a-client", IDP_CLIENT_SECRET_FILE: path });
    expect(loadConfig(client(join(folder, "secret"))).identityProvider).toMatchObject({ clientSecret: "s3cret" });
    expect(problems(client(folder))).toEqual(["IDP_CLIENT_SECRET_FILE cannot be read: EISDIR"]);
  });
});

test("no message holds a secret", () => {
  const said = [
    { IDP_CLIENT_SECRET: "s3cret" },
    { ...resend, RESEND_API_KEY: "s3cret\u00e9" },
    { ...postmark, POSTMARK_SERVER_TOKEN: "s3cret s3cret" },
    { SMTP_URL: "smtp://latchkey:s3cret@mail.example/path" },
    { DATABASE_URL: "postgre://latchkey:s3cret@localhost/latchkey" },
    { APP_URL: "https://latchkey:s3cret@latchkey.example" },
  ].map((environment) => problems(environment).join());
  expect(said).toEqual(said.map(() => expect.stringMatching(/^[A-Z]/)));
  expect(said.join()).not.toContain("s3cret");
});
