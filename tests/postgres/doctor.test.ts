import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SMTPServerOptions } from "smtp-server";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { startIdentityProvider } from "../../demo/identity-provider";
import { type Authority, createAuthority } from "../support/certificates";
import { latchkey } from "../support/command";
import { type ReverseProxy, startReverseProxy } from "../support/reverse-proxy";
import { createEmptyDatabase, freePort, type RunningServer, startServer } from "../support/server";
import { login, startScriptedServer, startSmtpServer } from "../support/smtp-service";
import { createDatabases } from "./databases";

type Settings = Record<string, string>;
type Rewrite = Parameters<typeof startReverseProxy>[1];

const cluster = createDatabases();
let authority: Authority;
let folder: string;
let database: string;
let service: RunningServer;
let other: RunningServer;
let proxy: ReverseProxy;
let rewrite: Rewrite;

const setEvery: Rewrite = (headers, { proto, host, client }) => {
  headers["x-forwarded-proto"] = proto;
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-for"] = [headers["x-forwarded-for"], client].filter(Boolean).join(", ");
};

beforeAll(async () => {
  authority = createAuthority();
  folder = await mkdtemp(join(tmpdir(), "latchkey-doctor-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  database = await cluster.createDatabase();
  const certificate = authority.sign("DNS:localhost");
  proxy = await startReverseProxy(
    () => service.port,
    (headers, set) => rewrite(headers, set),
    certificate,
  );
  const APP_URL = `https://localhost:${proxy.port}`;
  service = await startServer({ DATABASE_URL: database, TRUST_PROXY: "1", APP_URL });
  other = await startServer({ DATABASE_URL: await cluster.createDatabase() });
});

afterAll(async () => {
  await Promise.all([service.stop(), other.stop()]);
  await proxy.stop();
  await rm(folder, { recursive: true });
});

const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });

/** The settings of the service behind the proxy. */
const behindProxy = (): Settings => ({
  ...trusting(),
  DATABASE_URL: database,
  TRUST_PROXY: "1",
  APP_URL: `https://localhost:${proxy.port}`,
  PORT: String(service.port),
});

const secrets = ["wörd", encodeURIComponent(login.pass), "a-secret-for-the-demo", "a-wrong-secret", "re_secret"];

/** Runs the doctor with JSON, and asserts that its status says whether a check failed, and that no secret is printed. */
async function examine(settings: Settings, words: string[] = []): Promise<Check[]> {
  const { status, stdout, stderr } = await latchkey(["doctor", "--json", ...words], settings);
  const checks: Check[] = JSON.parse(stdout);
  const failed = checks.filter((check) => check.status === "fail").length;
  expect(status).toBe(failed > 0 ? 1 : 0);
  if (failed > 0) expect(stderr).toContain(`${failed} ${failed === 1 ? "check" : "checks"} failed.`);
  for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  for (const { mend, found } of checks) expect(`${found}${mend}`).not.toContain("\n");
  return checks;
}

const named = async (name: string, settings: Settings, words?: string[]) =>
  (await examine(settings, words)).filter((check) => check.name === name);

const smtp = (options: SMTPServerOptions = {}) =>
  startSmtpServer({ allowInsecureAuth: true, ...options, ...(options.secure ? {} : { hideSTARTTLS: true }) });

const credentials = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}`;
const APP_URL = "http://localhost:1"; // where nothing listens
const mailSettings = (SMTP_URL: string) => ({
  APP_URL,
  MAIL_DRIVER: "smtp",
  MAIL_FROM: "mail@latchkey.example",
  SMTP_URL,
});

test("a sound installation behind a proxy: no check fails, the test mail arrives, the status is 0", async () => {
  rewrite = setEvery;
  const provider = await startIdentityProvider(`https://localhost:${proxy.port}/auth/idp/callback`);
  onTestFinished(() => provider.stop());
  const mails = await smtp({ secure: true, ...authority.sign("DNS:localhost") });
  const settings = {
    ...mailSettings(`smtps://${credentials}@localhost:${mails.port}`),
    ...behindProxy(),
    ...provider.settings,
  };
  const checks = await examine(settings, ["--mail", "you@example.org"]);
  expect(checks.map(({ status, name, found }) => [status, name, found])).toEqual([
    ["ok", "settings", "usable; production"],
    ["warn", "registration", "anybody can register, and so enter what stands behind /auth/verify"],
    ["ok", "database", expect.stringMatching(/^PostgreSQL \d+/)],
    ["ok", "migrations", expect.stringMatching(/^all \d+ applied$/)],
    ["ok", "clock", "differs from the database's by 0 s"],
    ["ok", "mail", `smtp: localhost:${mails.port} accepts the login`],
    ["ok", "test mail", "the mail service accepted the mail to you@example.org"],
    ["ok", "provider", "oidc: the client id and secret are accepted"],
    ["ok", "APP_URL", `https://localhost:${proxy.port} leads to this service`],
    ["ok", "proxy", "sends what TRUST_PROXY expects"],
  ]);
  expect(mails.mails).toMatchObject([{ to: ["you@example.org"], secure: true }]);
});

test("without --json each check is one line, with what to do", async () => {
  rewrite = setEvery;
  const { status, stdout } = await latchkey(["doctor"], { ...behindProxy(), IDP_CLIENT_ID: "", NODE_ENV: "test" });
  expect(stdout.split("\n").slice(-5)).toEqual([
    "ok    mail          log: mails are written to standard output",
    "ok    provider      off",
    `ok    APP_URL       https://localhost:${proxy.port} leads to this service`,
    "ok    proxy         sends what TRUST_PROXY expects",
    "",
  ]);
  expect(status).toBe(0);
});

test("every problem of the settings is listed, without a value", async () => {
  const settings = {
    PORT: "99999",
    MAIL_DRIVER: "smtp",
    SMTP_URL: "smtp://user:a-wrong-secret@",
    IDP_CLIENT_ID: "latchkey",
  };
  expect((await examine(settings)).map(({ status, name, found }) => [status, name, found.split(" ", 1)[0]])).toEqual([
    ["fail", "settings", "PORT"],
    ["fail", "settings", "SMTP_URL"],
    ["fail", "settings", "MAIL_FROM"],
    ["fail", "settings", "APP_URL"],
    ["fail", "settings", "IDP_CLIENT_SECRET"],
  ]);
});

describe("the database", () => {
  test("is not reached", async () => {
    const url = `postgresql://postgres:a-wrong-secret@127.0.0.1:${await freePort()}/latchkey`;
    expect(await named("database", { DATABASE_URL: url })).toEqual([
      {
        status: "fail",
        name: "database",
        found: expect.stringMatching(
          /^The database at 127\.0\.0\.1:\d+\/latchkey cannot be used: connect ECONNREFUSED/,
        ),
        mend: "start PostgreSQL, or correct host and port in DATABASE_URL",
      },
    ]);
  });

  test("does not exist", async () => {
    const url = database.replace(/\w+$/, "nowhere");
    expect(await named("database", { DATABASE_URL: url })).toMatchObject([
      { status: "fail", mend: "create the database, or correct its name in DATABASE_URL" },
    ]);
  });

  test("has no migrations", async () => {
    expect(await named("migrations", { DATABASE_URL: await cluster.createDatabase() })).toEqual([
      {
        status: "fail",
        name: "migrations",
        found: expect.stringMatching(/^(\d+) of \1 are missing: Migration20261121000000, /),
        mend: "run `latchkey database migrate`, or start the service",
      },
    ]);
  });

  test.each([
    [60_000, "60 s behind"],
    [-60_000, "60 s ahead"],
  ])("has another time, this machine's clock being off by %i ms", async (shift, found) => {
    const shifted = `const now = Date.now; Date.now = () => now() + ${shift};`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(shifted)}`;
    expect(await named("clock", { DATABASE_URL: database, NODE_OPTIONS })).toEqual([
      {
        status: "fail",
        name: "clock",
        found: `the database's is ${found}: links and sessions end at the wrong time`,
        mend: "synchronise both machines' clocks by NTP, e.g. with chrony",
      },
    ]);
  });
});

describe("the embedded database", () => {
  async function dataFolder(): Promise<{ folder: string; settings: Settings }> {
    const { url, drop } = await createEmptyDatabase("embedded");
    onTestFinished(drop);
    const folder = url.slice("pglite:".length);
    const settings = { DATABASE_URL: url };
    await latchkey(["database", "migrate"], settings);
    return { folder, settings };
  }

  test("does not exist yet: a warning, and nothing is created", async () => {
    const settings = { DATABASE_URL: `pglite:${folder}/data` };
    expect(await named("database", settings)).toMatchObject([
      { status: "warn", found: `there is no database in ${folder}/data` },
    ]);
    expect(await named("data folder", settings)).toMatchObject([
      { status: "warn", found: `${folder}/data does not exist` },
    ]);
  });

  test("is private", async () => {
    const { folder, settings } = await dataFolder();
    expect(await named("data folder", settings)).toEqual([
      { status: "ok", name: "data folder", found: `${folder}: mode 0700, no file is readable by others` },
    ]);
  });

  test("is in a folder that others can open", async () => {
    const { folder, settings } = await dataFolder();
    await chmod(folder, 0o755);
    expect(await named("data folder", settings)).toEqual([
      {
        status: "fail",
        name: "data folder",
        found: `${folder} has the mode 0755: others can open it`,
        mend: `chmod -R go= ${folder}`,
      },
    ]);
  });

  test("has a file that others can read", async () => {
    const { folder, settings } = await dataFolder();
    await chmod(join(folder, "pglite/PG_VERSION"), 0o644);
    expect(await named("data folder", settings)).toMatchObject([
      { status: "fail", found: `others can open files in it (1), e.g. ${folder}/pglite/PG_VERSION` },
    ]);
  });

  test("is held by the running service: one line says so, and the service at HOST says which installation it is", async () => {
    const { folder, settings: database } = await dataFolder();
    const PORT = String(await freePort());
    const settings = { ...database, PORT, HOST: "::1", APP_URL: `http://[::1]:${PORT}` };
    const running = await startServer(settings);
    onTestFinished(() => running.kill());
    const checks = await examine(settings);
    expect(checks.map(({ status, name, found }) => [status, name, found])).toEqual([
      ["ok", "settings", "usable; production"],
      ["ok", "data folder", `${folder}: mode 0700, no file is readable by others`],
      ["fail", "database", `The data folder ${folder} is in use by another process`],
      ["warn", "mail", "log: mails are written to standard output, with their links"],
      ["ok", "provider", "off"],
      ["ok", "APP_URL", `${settings.APP_URL} leads to this service`],
      ["ok", "proxy", "none trusted; the service sees APP_URL"],
    ]);
  });
});

describe("mail", () => {
  const at = (port: number, scheme = "smtp") => mailSettings(`${scheme}://${credentials}@localhost:${port}`);
  const check = (settings: Settings, words?: string[]) =>
    named("mail", { DATABASE_URL: `pglite:${folder}/data`, ...trusting(), ...settings }, words);

  test("a closed port", async () => {
    const port = await freePort();
    expect(await check(at(port))).toEqual([
      {
        status: "fail",
        name: "mail",
        found: `localhost:${port} refuses the connection`,
        mend: "correct host and port in SMTP_URL, or start the mail server",
      },
    ]);
  });

  test("a host that does not exist", async () => {
    expect(await check(mailSettings(`smtp://${credentials}@nowhere.invalid:587`))).toMatchObject([
      { status: "fail", found: "the host nowhere.invalid cannot be found" },
    ]);
  });

  test("a certificate for another name", async () => {
    const { port } = await smtp({ secure: true, ...authority.sign("DNS:other.example") });
    expect(await check(at(port, "smtps"))).toMatchObject([
      {
        status: "fail",
        found: `the certificate of localhost:${port} is not valid for localhost (ESOCKET ERR_TLS_CERT_ALTNAME_INVALID)`,
        mend: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      },
    ]);
  });

  test("a certificate of an unknown authority", async () => {
    const { port } = await smtp({ secure: true, ...createAuthority().sign("DNS:localhost") });
    expect(await check(at(port, "smtps"))).toMatchObject([
      { status: "fail", found: expect.stringMatching(/^the certificate of localhost:\d+ is not valid/) },
    ]);
  });

  test("no STARTTLS", async () => {
    const { port } = await startScriptedServer((line, socket) => {
      if (line === null) socket.write("220 mail.example\r\n");
      else socket.write(line.startsWith("STARTTLS") ? "502 No\r\n" : "250 mail.example\r\n");
    });
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(
      'import dns from "node:dns"; const name = "mail.example"; const { lookup, resolve4, resolve6 } = dns;' +
        'dns.lookup = (host, options, done) => lookup(host === name ? "127.0.0.1" : host, options, done);' +
        "dns.resolve4 = (host, done) => (host === name ? done(null, ['127.0.0.1']) : resolve4(host, done));" +
        "dns.resolve6 = (host, done) => (host === name ? done(null, []) : resolve6(host, done));",
    )}`;
    expect(await check({ ...mailSettings(`smtp://${credentials}@mail.example:${port}`), NODE_OPTIONS })).toMatchObject([
      { status: "fail", found: `mail.example:${port} does not offer STARTTLS` },
    ]);
  });

  test("TLS from the start on a port without it", async () => {
    const { port } = await smtp();
    expect(await check(at(port, "smtps"))).toMatchObject([
      {
        status: "fail",
        found: `localhost:${port} does not start with TLS`,
        mend: "use smtp:// (STARTTLS, port 587) in SMTP_URL",
      },
    ]);
  });

  test("a login that is refused", async () => {
    const { port } = await smtp();
    expect(await check(mailSettings(`smtp://user:a-wrong-secret@localhost:${port}`))).toEqual([
      {
        status: "fail",
        name: "mail",
        found: `localhost:${port} refuses the login (EAUTH 535)`,
        mend: "correct user and password in SMTP_URL; both are percent-encoded there",
      },
    ]);
  });

  test("silence, for ten seconds", async () => {
    const { port } = await startScriptedServer(() => {});
    expect(await check(at(port))).toMatchObject([
      { status: "fail", found: `localhost:${port} did not answer in time` },
    ]);
  });

  test("a test mail whose recipient is refused", async () => {
    const { port } = await smtp({
      onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error("No"), { responseCode: 550 })),
    });
    const settings = { DATABASE_URL: `pglite:${folder}/data`, ...at(port) };
    expect(await named("test mail", settings, ["--mail", "you@example.org"])).toMatchObject([
      { status: "fail", found: "the mail service refuses the recipient" },
    ]);
    expect(await named("test mail", settings, ["--mail", "nobody"])).toMatchObject([
      { status: "fail", found: "the address is none" },
    ]);
  });

  /** An HTTP service that answers each request so. */
  async function mailApi(path: string, status: number, body: unknown) {
    const requests: [string | undefined, IncomingHttpHeaders][] = [];
    const server = createServer((request, response) => {
      requests.push([`${request.method} ${request.url}`, request.headers]);
      const known = request.url === path;
      response.writeHead(known ? status : 404, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  const resend = { MAIL_DRIVER: "resend", MAIL_FROM: "mail@latchkey.example", RESEND_API_KEY: "re_secret" };
  const postmark = { MAIL_DRIVER: "postmark", MAIL_FROM: "mail@latchkey.example", POSTMARK_SERVER_TOKEN: "re_secret" };

  test.each([
    ["Resend: full access", resend, "/domains", 200, { data: [] }, "ok", "resend: the key is accepted"],
    [
      "Resend: may only send",
      resend,
      "/domains",
      401,
      { name: "restricted_api_key" },
      "ok",
      "resend: the key is accepted",
    ],
    [
      "Resend: wrong",
      resend,
      "/domains",
      403,
      { name: "invalid_api_key" },
      "fail",
      "Resend refuses the key (status 403, invalid_api_key)",
    ],
    ["Postmark: right", postmark, "/server", 200, { ID: 1 }, "ok", "postmark: the key is accepted"],
    ["Postmark: wrong", postmark, "/server", 401, { ErrorCode: 10 }, "fail", "Postmark refuses the key (status 401)"],
  ])("the key of %s", async (_what, settings, path, answer, body, status, found) => {
    const api = await mailApi(path, answer, body);
    expect(await check({ ...settings, APP_URL, MAIL_API_URL: api.url })).toMatchObject([{ status, found }]);
    expect(api.requests.map(([line]) => line)).toEqual([`GET ${path}`]);
    const { authorization, "x-postmark-server-token": token } = api.requests[0]?.[1] ?? {};
    expect(authorization ?? token).toMatch(/^(?:Bearer )?re_secret$/);
  });

  test("a mail API that is not reached", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await check({ ...resend, APP_URL, MAIL_API_URL: url })).toMatchObject([
      { status: "fail", found: "Resend cannot be reached (unreachable, ECONNREFUSED)" },
    ]);
  });
});

describe("the provider", () => {
  const check = (settings: Settings) => named("provider", { DATABASE_URL: `pglite:${folder}/data`, ...settings });

  test("refuses a wrong client secret", async () => {
    const provider = await startIdentityProvider("http://localhost:3000/auth/idp/callback");
    onTestFinished(() => provider.stop());
    expect(await check({ ...provider.settings, IDP_CLIENT_SECRET: "a-wrong-secret" })).toEqual([
      {
        status: "fail",
        name: "provider",
        found: "oidc: the provider refuses the client's credentials (invalid_client)",
        mend: "copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again",
      },
    ]);
    expect(await check(provider.settings)).toMatchObject([{ status: "ok" }]);
  });

  test("is not at IDP_ISSUER", async () => {
    const provider = await startIdentityProvider("http://localhost:3000/auth/idp/callback");
    onTestFinished(() => provider.stop());
    expect(await check({ ...provider.settings, IDP_ISSUER: `${provider.url}/other` })).toMatchObject([
      { status: "fail", found: expect.stringMatching(/^oidc: discovery at http.*\/other failed \(status 404\)$/) },
    ]);
  });

  test("has an endpoint that does not answer", async () => {
    const provider = await startIdentityProvider("http://localhost:3000/auth/idp/callback");
    onTestFinished(() => provider.stop());
    const IDP_AUTHORIZE_URL = `http://localhost:${await freePort()}/authorize`;
    expect(await check({ ...provider.settings, IDP_AUTHORIZE_URL })).toMatchObject([
      { status: "fail", found: `oidc: ${IDP_AUTHORIZE_URL} does not answer (unreachable, ECONNREFUSED)` },
    ]);
  });
});

describe("APP_URL", () => {
  const check = (settings: Settings) => named("APP_URL", { ...behindProxy(), ...settings });

  test("leads nowhere", async () => {
    const APP_URL = `http://localhost:${await freePort()}`;
    expect(await check({ APP_URL })).toEqual([
      {
        status: "fail",
        name: "APP_URL",
        found: `${APP_URL} does not lead to this service (ECONNREFUSED)`,
        mend: "start the service and the proxy, or correct APP_URL and the DNS",
      },
    ]);
  });

  test.each<[string, () => string | Promise<string>, () => string]>([
    ["missing", () => `pglite:${folder}/data`, () => `there is no database in ${folder}/data`],
    ["not migrated", () => cluster.createDatabase(), () => "its database is not migrated"],
    ["not reached", () => "postgresql://postgres@127.0.0.1:1/x", () => "its database cannot be opened"],
  ])(
    "leads to a service, but the own database is %s: the two are not compared, and no proxy is judged",
    async (_what, url, reason) => {
      const { url: APP_URL, port } = other;
      const checks = await examine({ DATABASE_URL: await url(), APP_URL, PORT: String(port) });
      expect(checks.filter(({ name }) => ["APP_URL", "proxy"].includes(name))).toEqual([
        {
          status: "warn",
          name: "APP_URL",
          found: `${APP_URL} leads to a Latchkey that cannot be compared with this installation: ${reason()}`,
          mend: "mend the database check, then run this again",
        },
      ]);
    },
  );

  test("leads to another installation", async () => {
    expect(await check({ APP_URL: other.url })).toMatchObject([
      { status: "fail", found: `${other.url} leads to another installation of Latchkey` },
    ]);
  });

  test.each([
    [404, "text/html", "Not here", "status 404"],
    [200, "text/html", "<!doctype html>", "not_json"],
    [200, "application/json", '{"ok":true}', "unexpected"],
    [200, "application/json", '{"installation":null,"origin":"","client":"proxy"}', "unexpected"],
    [200, "application/json", '{"installation":null,"origin":"http://x/\\u001b[2K","client":"proxy"}', "unexpected"],
    [301, "text/plain", "", "redirect 301"],
  ])("leads to another website, which answers %i %s %s", async (status, type, body, reason) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { "Content-Type": type, Location: "https://elsewhere.example/" }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const APP_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await check({ APP_URL })).toMatchObject([
      { status: "fail", found: `${APP_URL} does not lead to this service (${reason})` },
    ]);
  });

  test("has a certificate that is not trusted", async () => {
    expect(await check({ NODE_EXTRA_CA_CERTS: "" })).toMatchObject([
      { status: "fail", found: expect.stringMatching(/^the certificate of https:\/\/localhost:\d+ is not trusted/) },
    ]);
  });
});

describe("the proxy", () => {
  const check = async (how: Rewrite, settings: Settings = {}) => {
    rewrite = how;
    return named("proxy", { ...behindProxy(), ...settings });
  };
  const changed =
    (change: (headers: IncomingHttpHeaders) => void): Rewrite =>
    (headers, set) => {
      setEvery(headers, set);
      change(headers);
    };

  test("does not send X-Forwarded-Proto", async () => {
    expect(await check(changed((headers) => delete headers["x-forwarded-proto"]))).toEqual([
      {
        status: "fail",
        name: "proxy",
        found: `the service sees http://localhost:${proxy.port} instead of https://localhost:${proxy.port}`,
        mend: "let the proxy send X-Forwarded-Proto with the scheme that the browser used",
      },
    ]);
  });

  test("replaces Host and does not send X-Forwarded-Host", async () => {
    const how = changed((headers) => {
      headers.host = "upstream:3000";
      delete headers["x-forwarded-host"];
    });
    expect(await check(how)).toMatchObject([
      {
        status: "fail",
        found: `the service sees https://upstream:3000 instead of https://localhost:${proxy.port}`,
        mend: "let the proxy send X-Forwarded-Host with the host that the browser used, or keep Host as it is",
      },
    ]);
  });

  test("does not send X-Forwarded-For", async () => {
    expect(await check(changed((headers) => delete headers["x-forwarded-for"]))).toMatchObject([
      { status: "fail", found: "the proxy sends no X-Forwarded-For: all clients share one limit" },
    ]);
  });

  test("passes on what a client sends as X-Forwarded-For", async () => {
    const how: Rewrite = (headers, set) => {
      const sent = headers["x-forwarded-for"];
      setEvery(headers, set);
      if (sent) headers["x-forwarded-for"] = sent;
    };
    expect(await check(how)).toMatchObject([
      { status: "fail", found: "a client can choose its own address with X-Forwarded-For" },
    ]);
  });

  test.each(["x-forwarded-proto", "x-forwarded-host"])("passes on what a client sends as %s", async (name) => {
    const how: Rewrite = (headers, set) => {
      const sent = headers[name];
      setEvery(headers, set);
      if (sent) headers[name] = sent;
    };
    expect(await check(how)).toMatchObject([
      { status: "fail", found: "a client can choose X-Forwarded-Proto or X-Forwarded-Host" },
    ]);
  });

  test("is in front, but TRUST_PROXY is false", async () => {
    const direct = await startReverseProxy(() => other.port, setEvery, authority.sign("DNS:localhost"));
    onTestFinished(() => direct.stop());
    const APP_URL = `https://localhost:${direct.port}`;
    const settings = { ...trusting(), DATABASE_URL: other.databaseUrl, APP_URL, PORT: String(other.port) };
    expect(await named("proxy", settings)).toMatchObject([
      {
        status: "fail",
        found: `the service sees http://localhost:${direct.port} instead of ${APP_URL}`,
        mend: expect.stringMatching(/^set TRUST_PROXY to the number of proxies/),
      },
    ]);
  });

  test("is not there, but TRUST_PROXY is 1", async () => {
    const APP_URL = service.url;
    expect(await named("proxy", { ...behindProxy(), APP_URL })).toMatchObject([
      { status: "fail", found: "a client can choose X-Forwarded-Proto or X-Forwarded-Host" },
    ]);
  });
});
