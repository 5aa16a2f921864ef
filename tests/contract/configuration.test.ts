import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    trustedProxies: 0,
    mail: { driver: "log", from: "Latchkey <latchkey@localhost>" },
    defaultLanguage: "en",
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
    TRUST_PROXY: "true",
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
    DEFAULT_LOCALE: "en",
  });
  expect(config).toEqual({
    production: true,
    appUrl: "https://latchkey.example",
    databaseUrl: "postgresql://latchkey@db.example/latchkey",
    port: 8080,
    trustedProxies: 1,
    mail: {
      driver: "resend",
      from: "mail@latchkey.example",
      apiUrl: "https://mail.example/v2",
      apiKey: "re_the-key",
    },
    defaultLanguage: "en",
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

test("an empty or blank variable counts as unset", () => {
  const names = ["APP_URL", "DATABASE_URL", "PORT", "TRUST_PROXY", "MAIL_DRIVER", "MAIL_FROM", "MAIL_API_URL"];
  const more = ["IDP_PROVIDER", "IDP_CLIENT_ID", "IDP_CLIENT_SECRET", "IDP_ISSUER", "IDP_SCOPE", "RESEND_API_KEY"];
  const blank = Object.fromEntries([...names, ...more].map((name, index) => [name, index % 2 ? "" : " "]));
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
    ["DATABASE_URL", "pglite:", "must be a postgresql:// URL, or pglite: and a folder"],
    ["PORT", "http", "must be a port number"],
    ["PORT", "0", "must be a port number"],
    ["PORT", "65536", "must be a port number"],
    ["PORT", "3000.5", "must be a port number"],
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
