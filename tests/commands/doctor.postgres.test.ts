import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import nock from "nock";
import type { SMTPServerOptions } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { checkNode } from "#server/commands/doctor/doctor";
import { claimFolder } from "#server/database/folder-lock";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { createAuthority } from "../support/certificates";
import { commandHere } from "../support/command";
import { createDatabases } from "../support/databases";
import { listen } from "../support/listen";
import { freePort, type RunningServer, startServer, type TestDatabase } from "../support/server";
import { login, refuse, startScriptedServer, startSmtpServer } from "../support/smtp-service";
import { createDatabase } from "../support/template-copy";

type Settings = Record<string, string>;
/** Changes the headers that a proxy passes on; `set` has what a good one would set. */
type Rewrite = (headers: IncomingHttpHeaders, set: { host: string; client: string }) => void;

const setEvery: Rewrite = (headers, { host, client }) => {
  headers["x-forwarded-proto"] = "https";
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-for"] = [headers["x-forwarded-for"], client].filter(Boolean).join(", ");
};

let rewrite: Rewrite;

const passOn: RequestListener = (incoming, outgoing) => {
  const headers = { ...incoming.headers };
  rewrite(headers, { host: headers.host ?? "", client: incoming.socket.remoteAddress ?? "" });
  const { method, url: path } = incoming;
  const sent = request({ host: "localhost", port: service.port, method, path, headers, setHost: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(sent);
};

const cluster = createDatabases();
const authority = createAuthority();
const { connect } = tls;
let folder: string;
let databases: TestDatabase[];
let service: RunningServer;
let provider: IdentityProvider;
let proxy: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-doctor-"));
  proxy = await listen(https.createServer(authority.sign("DNS:localhost"), passOn));
  const APP_URL = `https://localhost:${proxy.port}`;
  provider = await startIdentityProvider(`${APP_URL}/auth/idp/callback`);
  databases = [await createDatabase(), await createDatabase()];
  service = await startServer({ DATABASE_URL: databases[0]!.url, TRUST_PROXY: "1", APP_URL });
});

beforeEach(() => {
  rewrite = setEvery;
  const trusting = (options: object, done?: () => void) => connect({ ...options, ca: authority.ca }, done);
  vi.spyOn(tls, "connect").mockImplementation(trusting as typeof connect);
});

afterAll(async () => {
  await service.stop();
  await Promise.all([proxy.stop(), provider.stop(), ...databases.map(({ drop }) => drop())]);
  await rm(folder, { recursive: true });
});

const behindProxy = (): Settings => ({
  DATABASE_URL: databases[0]!.url,
  TRUST_PROXY: "1",
  APP_URL: `https://localhost:${proxy.port}`,
  PORT: String(service.port),
});

const secrets = ["wörd", encodeURIComponent(login.pass), "a-secret-for-the-demo", "a-wrong-secret", "re_secret"];

/** Runs the doctor with JSON, and asserts that its status says whether a check failed, and that no secret is printed. */
async function examine(settings: Settings, words: string[] = []): Promise<Check[]> {
  const { status, stdout, stderr } = await commandHere(["doctor", "--json", ...words], settings);
  const checks: Check[] = JSON.parse(stdout);
  const failed = checks.filter((check) => check.status === "fail").length;
  expect(status).toBe(failed > 0 ? 1 : 0);
  if (failed > 0) expect(stderr).toContain(`${failed} ${failed === 1 ? "check" : "checks"} failed.`);
  for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  for (const { fix, found } of checks) expect(`${found}${fix}`).not.toContain("\n");
  return checks;
}

const found = (checks: Check[]) => checks.map(({ status, name, found }) => [status, name, found]);

const named = async (name: string, settings: Settings, words?: string[]) =>
  (await examine(settings, words))
    .filter((check) => check.name === name)
    .map(({ status, found, fix }) => `${status} ${found}${fix ? ` Fix: ${fix}` : ""}`);

type Case = () => Settings | Promise<Settings>;

const testCases = (name: string, shared: () => Settings, cases: Record<string, [Case, RegExp]>) =>
  test.each(Object.entries(cases))(`${name}: %s`, async (_what, [prepare, line]) => {
    expect(await named(name, { ...shared(), ...(await prepare()) })).toEqual([expect.stringMatching(line)]);
  });

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

test.each<[Settings, string[]]>([
  [{ TRUST_PROXY: "127.0.0.1, 10.0.0.0/8, 2001:db8::/32" }, []],
  [
    { TRUST_PROXY: "10.0.0.0/8, 0.0.0.0/1, 10.0.0.0/7, 2001:d00::/24" },
    [
      "warn whoever is in 0.0.0.0/1 or 10.0.0.0/7 or 2001:d00::/24 chooses the client's address and host (TRUST_PROXY)" +
        " Fix: name the proxies' own addresses or networks",
    ],
  ],
  [{ HOST: "127.0.0.1" }, []],
  [{ HOST: "10.0.0.5" }, []],
])("host: with %j only a network that is larger than a site's is named", async (settings, lines) => {
  expect(await named("host", { ...behindProxy(), ...settings })).toEqual(lines);
});

const nodeCheck = [expect.stringMatching(/^(?:ok|warn)$/), "node", expect.stringContaining(process.versions.node)];

test.each([
  ["20.19.0", "warn", "20.19.0, which gets no updates any more"],
  ["22.22.0", "ok", "22.22.0"],
  ["24.11.1", "ok", "24.11.1"],
])("of Node %s the check is %s", (version, status, found) => {
  expect(checkNode(version)).toMatchObject({ status, found });
});

test("a sound installation behind a proxy fails no check", async () => {
  const mails = await smtp({ secure: true, ...authority.sign("DNS:localhost") });
  const settings = {
    ...mailSettings(`smtps://${credentials}@localhost:${mails.port}`),
    ...behindProxy(),
    ...provider.settings,
  };
  const checks = await examine(settings, ["--mail", "you@example.org"]);
  expect(found(checks)).toEqual([
    ["ok", "settings", "usable; production"],
    nodeCheck,
    ["warn", "registration", "anybody can register, and so enter what stands behind /auth/verify"],
    ["warn", "host", expect.stringMatching(/^whoever reaches the port past the proxy chooses .* \(TRUST_PROXY\)$/)],
    ["ok", "passkeys", "on, for localhost"],
    ["ok", "tokens", "off (ACCESS_TOKENS): tokens=on of a proxy changes nothing"],
    ["ok", "database", expect.stringMatching(/^PostgreSQL \d+/)],
    ["ok", "migrations", expect.stringMatching(/^all \d+ applied$/)],
    ["ok", "clock", "differs from the database's by 0 s"],
    ["ok", "mail", `smtp: localhost:${mails.port} accepts the login`],
    ["ok", "test mail", "the mail service accepted the mail to you@example.org"],
    [
      "ok",
      "provider",
      "oidc: the client id and secret are accepted; back-channel logout: supported; IDP_LOGOUT: supported",
    ],
    ["ok", "APP_URL", `https://localhost:${proxy.port} leads to this service`],
    ["ok", "proxy", "sends what TRUST_PROXY expects"],
  ]);
});

test("--mail sends a test mail", async () => {
  const mails = await smtp({ secure: true, ...authority.sign("DNS:localhost") });
  const settings = { ...mailSettings(`smtps://${credentials}@localhost:${mails.port}`), ...behindProxy() };
  await examine(settings, ["--mail", "you@example.org"]);
  expect(mails.mails).toMatchObject([{ to: ["you@example.org"], secure: true }]);
});

test("without --json each check is one line", async () => {
  const { status, stdout } = await commandHere(["doctor"], { ...behindProxy(), NODE_ENV: "test" });
  expect(stdout.split("\n").slice(-5)).toEqual([
    "ok    mail          log: mails are written to standard output",
    "ok    provider      off",
    `ok    APP_URL       https://localhost:${proxy.port} leads to this service`,
    "ok    proxy         sends what TRUST_PROXY expects",
    "",
  ]);
  expect(status).toBe(0);
});

test("every problem of the settings is listed without a value", async () => {
  const settings = {
    PORT: "99999",
    MAIL_DRIVER: "smtp",
    SMTP_URL: "smtp://user:a-wrong-secret@",
    IDP_CLIENT_ID: "latchkey",
  };
  const checks = (await examine(settings)).map(({ status, name, found }) => `${status} ${name} ${found.split(" ", 1)}`);
  const wrong = ["APP_URL", "IDP_CLIENT_SECRET", "MAIL_FROM", "PORT", "SMTP_URL"];
  expect(checks.sort()).toEqual(wrong.map((setting) => `fail settings ${setting}`));
});

test("an IDP_ISSUER over http is a warning of the settings", async () => {
  const client = { IDP_PROVIDER: "oidc", IDP_CLIENT_ID: "latchkey", IDP_CLIENT_SECRET: "a-wrong-secret" };
  expect(await named("settings", { ...behindProxy(), ...client, IDP_ISSUER: "http://idp.internal" })).toEqual([
    "ok usable; production",
    "warn IDP_ISSUER is http: the client's secret and people's addresses cross the network in clear" +
      " Fix: give it a certificate",
  ]);
});

testCases("database", () => ({}), {
  "it is not reached": [
    async () => ({ DATABASE_URL: `postgresql://postgres:a-wrong-secret@127.0.0.1:${await freePort()}/latchkey` }),
    /^fail The database at 127\.0\.0\.1:\d+\/latchkey cannot be used: connect ECONNREFUSED .* Fix: start PostgreSQL/,
  ],
  "it does not exist": [
    () => ({ DATABASE_URL: databases[0]!.url.replace(/\w+$/, "nowhere") }),
    /Fix: create the database, or correct its name in DATABASE_URL$/,
  ],
  "the embedded one does not exist": [
    () => ({ DATABASE_URL: `pglite:${folder}/data` }),
    /^warn there is no database in \S+\/data Fix: the first start of the service makes it$/,
  ],
});

testCases("tokens", behindProxy, {
  "the setting is off": [() => ({}), /^ok off \(ACCESS_TOKENS\): tokens=on of a proxy changes nothing$/],
  "no proxy is trusted": [
    () => ({ ACCESS_TOKENS: "on", TRUST_PROXY: "false" }),
    /^warn none counts, because no proxy names the origin of a request Fix: set TRUST_PROXY$/,
  ],
  "a proxy is trusted": [() => ({ ACCESS_TOKENS: "on" }), /^ok on, where the proxy asks \/auth\/verify\?tokens=on$/],
});

testCases("migrations", () => ({}), {
  "there are none": [
    async () => ({ DATABASE_URL: await cluster.createDatabase() }),
    /^fail (\d+) of \1 are missing: Migration20261121000000, .* Fix: run `latchkey database migrate`/,
  ],
});

test.each([
  [60_000, "60 s behind"],
  [-60_000, "60 s ahead"],
])("clock: this machine's is off by %i ms", async (shift, found) => {
  const { now } = Date;
  vi.spyOn(Date, "now").mockImplementation(() => now() + shift);
  expect(await named("clock", { DATABASE_URL: databases[0]!.url })).toEqual([
    `fail the database's is ${found}: links and sessions end at the wrong time Fix: synchronise both machines' clocks by NTP, e.g. with chrony`,
  ]);
});

/** An embedded database that another process holds, with a service at HOST. */
async function heldDatabase() {
  const { home, lock } = await claimFolder(join(folder, crypto.randomUUID()));
  onTestFinished(() => lock.close());
  await mkdir(join(home, "pglite"));
  const file = join(home, "pglite/PG_VERSION");
  await writeFile(file, "17", { mode: 0o600 });
  nock.enableNetConnect(/::1/);
  const origin = `http://[::1]:${service.port}`;
  const settings = { DATABASE_URL: `pglite:${home}`, PORT: String(service.port), HOST: "::1", APP_URL: origin };
  return { home, file, origin, settings };
}

test("in place of an embedded database that a service holds the service at HOST is asked", async () => {
  const { home, origin, settings } = await heldDatabase();
  expect(found(await examine(settings))).toEqual([
    ["ok", "settings", "usable; production"],
    nodeCheck,
    ["warn", "passkeys", `off, because browsers have none for ${origin}`],
    ["ok", "tokens", "off (ACCESS_TOKENS): tokens=on of a proxy changes nothing"],
    ["ok", "data folder", `${home}: mode 0700, no file is readable by others`],
    ["skip", "database", `The data folder ${home} is in use by another process`],
    ["ok", "migrations", `all applied: ${origin}/readyz says ready`],
    ["warn", "mail", "log: mails are written to standard output, with their links"],
    ["ok", "provider", "off"],
    ["skip", "APP_URL", `${origin} is not asked: the service of another user or release holds the database`],
  ]);
});

test("--outside skips the probe where a service of another user or release holds the database", async () => {
  const { settings } = await heldDatabase();
  expect(found(await examine(settings, ["--outside"]))).toContainEqual([
    "skip",
    expect.any(String),
    "forged headers: the service of another user or release holds the database",
  ]);
});

test("--at takes no text that is not a URL", async () => {
  const { status, stderr } = await commandHere(["doctor", "--outside", "--at", "app.example"], behindProxy());
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining("This is not an http or https URL."),
  });
});

test("WEBHOOK_SESSIONS without IDENTITY_TOKENS is a warning", async () => {
  const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const told = { WEBHOOK_URL: "https://app.example/", WEBHOOK_SECRET, WEBHOOK_SESSIONS: "on" };
  expect(await named("webhook", { ...behindProxy(), ...told })).toEqual([
    "warn session.ended names sessions by sid, which no application behind the proxy learns (WEBHOOK_SESSIONS)" +
      " Fix: set IDENTITY_TOKENS=on",
  ]);
  const tokens = { IDENTITY_TOKENS: "on", IDENTITY_KEY: Buffer.alloc(32).toString("base64") };
  expect(await named("webhook", { ...behindProxy(), ...told, ...tokens })).toEqual([]);
});

test("a data folder with a file that others can open fails", async () => {
  const { home, file, settings } = await heldDatabase();
  await chmod(file, 0o644);
  expect(await named("data folder", settings)).toEqual([
    `fail others can open files in it (1), e.g. ${file} Fix: chmod -R go= ${home}`,
  ]);
});

test("a data folder that others can open fails", async () => {
  const { home, settings } = await heldDatabase();
  await chmod(home, 0o755);
  expect(await named("data folder", settings)).toEqual([
    `fail ${home} has the mode 0755: others can open it Fix: chmod -R go= ${home}`,
  ]);
});

const at = (port: number, scheme = "smtp") => mailSettings(`${scheme}://${credentials}@localhost:${port}`);
const withoutDatabase = () => ({ DATABASE_URL: `pglite:${folder}/data` });
const resend = { MAIL_DRIVER: "resend", MAIL_FROM: "mail@latchkey.example", RESEND_API_KEY: "re_secret" };

testCases("mail", withoutDatabase, {
  "a closed port": [
    async () => at(await freePort()),
    /^fail localhost:\d+ refuses the connection Fix: correct host and port in SMTP_URL, or start the mail server$/,
  ],
  "a host that does not exist": [
    () => mailSettings(`smtp://${credentials}@nowhere.invalid:587`),
    /^fail the host nowhere\.invalid cannot be found Fix: /,
  ],
  "a certificate for another name": [
    async () => at((await smtp({ secure: true, ...authority.sign("DNS:other.example") })).port, "smtps"),
    /^fail the certificate of localhost:\d+ is not valid for localhost \(ESOCKET ERR_TLS_CERT_ALTNAME_INVALID\) Fix: .*NODE_EXTRA_CA_CERTS/,
  ],
  "TLS from the start on a port without it": [
    async () => at((await smtp()).port, "smtps"),
    /^fail localhost:\d+ does not start with TLS Fix: use smtp:\/\/ \(STARTTLS, port 587\) in SMTP_URL$/,
  ],
  "a login that is refused": [
    async () => mailSettings(`smtp://user:a-wrong-secret@localhost:${(await smtp()).port}`),
    /^fail localhost:\d+ refuses the login \(EAUTH 535\) Fix: correct user and password in SMTP_URL; both are percent-encoded there$/,
  ],
  "silence, for ten seconds": [
    async () => {
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      return at((await startScriptedServer(() => void vi.advanceTimersByTime(10_000))).port);
    },
    /^fail localhost:\d+ did not answer in time Fix: open the port/,
  ],
  "a mail API that is not reached": [
    async () => ({ ...resend, APP_URL, MAIL_API_URL: `http://127.0.0.1:${await freePort()}` }),
    /^fail Resend cannot be reached \(unreachable, ECONNREFUSED\) Fix: /,
  ],
});

test("mail: a sender with another name than the pages is a warning", async () => {
  const settings = { ...withoutDatabase(), MAIL_FROM: "Example <mail@latchkey.example>", NODE_ENV: "test" };
  const sent = "ok log: mails are written to standard output";
  expect(await named("mail", settings)).toEqual([
    'warn mails come from "Example", and say that they are of "Latchkey" Fix: give MAIL_FROM and BRAND_NAME the same name',
    sent,
  ]);
  expect(await named("mail", { ...settings, BRAND_NAME: "Example" })).toEqual([sent]);
});

test("test mail: the recipient is refused or invalid", async () => {
  const { port } = await smtp({ onRcptTo: (_address, _session, callback) => callback(refuse(550)) });
  const check = (address: string) => named("test mail", { ...withoutDatabase(), ...at(port) }, ["--mail", address]);
  expect(await check("you@example.org")).toEqual([
    expect.stringMatching(/^fail the mail service refuses the recipient Fix: /),
  ]);
  expect(await check("nobody")).toEqual([expect.stringMatching(/^fail this is not an email address Fix: /)]);
});

testCases("provider", withoutDatabase, {
  "it refuses a wrong client secret": [
    () => ({ ...provider.settings, IDP_CLIENT_SECRET: "a-wrong-secret" }),
    /^fail oidc: the provider refuses the client's credentials \(invalid_client\) Fix: copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again$/,
  ],
  "it is not at IDP_ISSUER": [
    () => ({ ...provider.settings, IDP_ISSUER: `${provider.url}/other` }),
    /^fail oidc: discovery at http.*\/other failed \(status 404\) Fix: correct IDP_ISSUER/,
  ],
  "it has an endpoint that does not answer": [
    async () => ({ ...provider.settings, IDP_AUTHORIZE_URL: `http://localhost:${await freePort()}/authorize` }),
    /^fail oidc: http:\/\/localhost:\d+\/authorize does not answer \(unreachable, ECONNREFUSED\) Fix: /,
  ],
});

/** The settings for a website that gives each request this answer. */
async function website(status: number, type: string, body: string): Promise<Settings> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "Content-Type": type, Location: "https://elsewhere.example/" }).end(body);
  });
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  return { APP_URL: `http://127.0.0.1:${port}` };
}

const seen = (origin: string) =>
  JSON.stringify({ client: "127.0.0.1", clientForwarded: true, origin, hostForwarded: true });

testCases("APP_URL", behindProxy, {
  "it leads nowhere": [
    async () => ({ APP_URL: `http://localhost:${await freePort()}` }),
    /^fail http:\S+ does not lead to this service \(ECONNREFUSED\) Fix: start the service and the proxy, or correct APP_URL/,
  ],
  "it leads to another installation": [
    () => ({ DATABASE_URL: databases[1]!.url }),
    /^fail https:\S+ does not lead to this service \(status 404\) Fix: .* with this database/,
  ],
  "it has a certificate that is not trusted": [
    async () => {
      const { port, stop } = await listen(https.createServer(createAuthority().sign("DNS:localhost")));
      onTestFinished(stop);
      return { APP_URL: `https://localhost:${port}` };
    },
    /^fail the certificate of https:\/\/localhost:\d+ is not trusted \(\w+\) Fix: /,
  ],
  "a website without the page": [
    () => website(404, "text/html", "Not here"),
    /^fail http:\S+ does not lead to this service \(status 404\) Fix: /,
  ],
  "a website with a page in its place": [
    () => website(200, "text/html", "<!doctype html>"),
    /^fail http:\S+ does not lead to this service \(not_json\) Fix: /,
  ],
  "an answer without an origin": [
    () => website(200, "application/json", seen("")),
    /^fail http:\S+ does not lead to this service \(unexpected\) Fix: /,
  ],
  "an answer that would write to the terminal": [
    () => website(200, "application/json", seen("http://x/\u001b[2K")),
    /^fail http:\S+ does not lead to this service \(unexpected\) Fix: /,
  ],
  "a website that redirects": [
    () => website(301, "text/plain", ""),
    /^fail http:\S+ does not lead to this service \(redirect 301\) Fix: /,
  ],
});

test.each<[string, () => string | Promise<string>, RegExp]>([
  ["missing", () => `pglite:${folder}/data`, /There is no database in the folder /],
  ["not migrated", () => cluster.createDatabase(), /The database is not up to date/],
  [
    "not reached",
    () => "postgresql://postgres@127.0.0.1:1/x",
    /The database at 127\.0\.0\.1:1\/x cannot be used: .*[^.]$/,
  ],
])("APP_URL is not asked with a database that is %s", async (_what, url, reason) => {
  const checks = await examine({ ...behindProxy(), DATABASE_URL: await url(), APP_URL: service.url });
  expect(checks.filter(({ name }) => ["APP_URL", "proxy"].includes(name))).toEqual([
    { status: "skip", name: "APP_URL", found: expect.stringMatching(reason) },
  ]);
});

const passing =
  (name: string): Rewrite =>
  (headers, set) => {
    const sent = headers[name];
    setEvery(headers, set);
    if (sent) headers[name] = sent;
  };

const without =
  (name: string, host?: string): Rewrite =>
  (headers, set) => {
    setEvery(headers, set);
    delete headers[name];
    if (host) headers.host = host;
  };

const chosen = /^fail a client can choose X-Forwarded-Proto or X-Forwarded-Host Fix: /;

const proxied = (how: Rewrite, settings: Settings = {}): Case => {
  return () => {
    rewrite = how;
    return settings;
  };
};

testCases("proxy", behindProxy, {
  "it does not send X-Forwarded-Proto": [
    proxied(without("x-forwarded-proto")),
    /^fail the service sees http:\S+ instead of https:\S+ Fix: let the proxy send X-Forwarded-Proto/,
  ],
  "it replaces Host and does not send X-Forwarded-Host": [
    proxied(without("x-forwarded-host", "upstream:3000")),
    /^fail the service sees https:\/\/upstream:3000 instead of https:\S+ Fix: let the proxy send X-Forwarded-Host/,
  ],
  "it does not send X-Forwarded-For": [
    proxied(without("x-forwarded-for")),
    /^fail the proxy sends no X-Forwarded-For: all clients share one limit Fix: /,
  ],
  "it passes on X-Forwarded-For": [
    proxied(passing("x-forwarded-for")),
    /^fail a client can choose its own address with X-Forwarded-For Fix: /,
  ],
  "it passes on X-Forwarded-Proto": [proxied(passing("x-forwarded-proto")), chosen],
  "it passes on X-Forwarded-Host": [proxied(passing("x-forwarded-host")), chosen],
  "it sends no X-Forwarded-Host, by which access tokens count": [
    proxied(without("x-forwarded-host"), { ACCESS_TOKENS: "on" }),
    /^fail the proxy sends no X-Forwarded-Host: no access token counts Fix: let the proxy send X-Forwarded-Host/,
  ],
  "it sends no X-Forwarded-Host, and there are no access tokens": [
    proxied(without("x-forwarded-host")),
    /^ok sends what TRUST_PROXY expects$/,
  ],
  "it sends X-Forwarded-Host, by which access tokens count": [
    proxied(setEvery, { ACCESS_TOKENS: "on" }),
    /^ok sends what TRUST_PROXY expects$/,
  ],
  "it is in front, but TRUST_PROXY is false": [
    proxied(without("x-forwarded-proto"), { TRUST_PROXY: "false" }),
    /^fail the service sees http:\S+ instead of https:\S+ Fix: set TRUST_PROXY to the number/,
  ],
  "it sends no address of a client, and TRUST_PROXY is false": [
    proxied(without("x-forwarded-for"), { TRUST_PROXY: "false" }),
    /^ok none trusted; the service sees APP_URL$/,
  ],
  "it is not there, but TRUST_PROXY is 1": [() => ({ APP_URL: service.url }), chosen],
});
