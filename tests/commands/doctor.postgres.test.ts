import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SMTPServerOptions } from "smtp-server";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { startIdentityProvider } from "../../demo/identity-provider";
import { type Authority, type Certificate, createAuthority } from "../support/certificates";
import { latchkey } from "../support/command";
import { createDatabases } from "../support/databases";
import { listen } from "../support/listen";
import { createEmptyDatabase, freePort, type RunningServer, startServer } from "../support/server";
import { login, startScriptedServer, startSmtpServer } from "../support/smtp-service";

/** @param rewrite changes the headers that it passes on, with what a good proxy would set at hand */
async function startReverseProxy(
  upstream: () => number,
  rewrite: (headers: IncomingHttpHeaders, set: { proto: string; host: string; client: string }) => void,
  certificate: Certificate,
) {
  const forward: RequestListener = (incoming, outgoing) => {
    const headers = { ...incoming.headers };
    rewrite(headers, { proto: "https", host: headers.host ?? "", client: incoming.socket.remoteAddress ?? "" });
    const { method, url: path } = incoming;
    const sent = request({ host: "localhost", port: upstream(), method, path, headers, setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(sent);
  };
  return listen(https.createServer(certificate, forward));
}

type Settings = Record<string, string>;
type Rewrite = Parameters<typeof startReverseProxy>[1];

const cluster = createDatabases();
let authority: Authority;
let folder: string;
let database: string;
let service: RunningServer;
let other: RunningServer;
let proxy: Awaited<ReturnType<typeof startReverseProxy>>;

const setEvery: Rewrite = (headers, { proto, host, client }) => {
  headers["x-forwarded-proto"] = proto;
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-for"] = [headers["x-forwarded-for"], client].filter(Boolean).join(", ");
};

let rewrite = setEvery;

beforeAll(async () => {
  authority = createAuthority();
  folder = await mkdtemp(join(tmpdir(), "latchkey-doctor-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  database = await cluster.createDatabase();
  const passOn: Rewrite = (headers, set) => rewrite(headers, set);
  proxy = await startReverseProxy(() => service.port, passOn, authority.sign("DNS:localhost"));
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
  (await examine(settings, words))
    .filter((check) => check.name === name)
    .map(({ status, found, mend }) => `${status} ${found}${mend ? ` Mend: ${mend}` : ""}`);

type Case = () => Promise<[Settings, string | RegExp]>;

const testCases = (name: string, cases: Record<string, Case>, shared: () => Settings) =>
  test.each(Object.entries(cases))(`${name}: %s`, async (_what, prepare) => {
    const [settings, line] = await prepare();
    const expected = typeof line === "string" ? line : expect.stringMatching(line);
    expect(await named(name, { ...shared(), ...settings })).toEqual([expected]);
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

test("a network of TRUST_PROXY that is larger than a site's is named, and no smaller one", async () => {
  const host = (TRUST_PROXY: string) => named("host", { ...behindProxy(), TRUST_PROXY });
  expect(await host("127.0.0.1, 10.0.0.0/8, 2001:db8::/32")).toEqual([]);
  expect(await host("10.0.0.0/8, 0.0.0.0/0, 10.0.0.0/7, 2001:d00::/24")).toEqual([
    "warn whoever is in 0.0.0.0/0 or 10.0.0.0/7 or 2001:d00::/24 chooses the client's address and host (TRUST_PROXY)" +
      " Mend: name the proxies' own addresses or networks",
  ]);
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
    ["warn", "host", expect.stringMatching(/^whoever reaches the port past the proxy chooses .* \(TRUST_PROXY\)$/)],
    ["ok", "passkeys", "on, for localhost"],
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
  const checks = (await examine(settings)).map(({ status, name, found }) => `${status} ${name} ${found.split(" ", 1)}`);
  const wrong = ["APP_URL", "IDP_CLIENT_SECRET", "MAIL_FROM", "PORT", "SMTP_URL"];
  expect(checks.sort()).toEqual(wrong.map((setting) => `fail settings ${setting}`));
});

test("host: a trusted proxy and a HOST of this machine alone are no warning", async () => {
  for (const host of ["127.0.0.1", "10.0.0.5"])
    expect(await named("host", { ...behindProxy(), HOST: host })).toEqual([]);
});

testCases(
  "database",
  {
    "it is not reached": async () => [
      { DATABASE_URL: `postgresql://postgres:a-wrong-secret@127.0.0.1:${await freePort()}/latchkey` },
      /^fail The database at 127\.0\.0\.1:\d+\/latchkey cannot be used: connect ECONNREFUSED .* Mend: start PostgreSQL/,
    ],
    "it does not exist": async () => [
      { DATABASE_URL: database.replace(/\w+$/, "nowhere") },
      /Mend: create the database, or correct its name in DATABASE_URL$/,
    ],
    "the embedded one does not exist": async () => [
      { DATABASE_URL: `pglite:${folder}/data` },
      `warn there is no database in ${folder}/data Mend: the first start of the service makes it`,
    ],
  },
  () => ({}),
);

test("migrations: there are none", async () => {
  expect(await named("migrations", { DATABASE_URL: await cluster.createDatabase() })).toEqual([
    expect.stringMatching(
      /^fail (\d+) of \1 are missing: Migration20261121000000, .* Mend: run `latchkey database migrate`/,
    ),
  ]);
});

test.each([
  [60_000, "60 s behind"],
  [-60_000, "60 s ahead"],
])("clock: this machine's is off by %i ms", async (shift, found) => {
  const shifted = `const now = Date.now; Date.now = () => now() + ${shift};`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(shifted)}`;
  expect(await named("clock", { DATABASE_URL: database, NODE_OPTIONS })).toEqual([
    `fail the database's is ${found}: links and sessions end at the wrong time Mend: synchronise both machines' clocks by NTP, e.g. with chrony`,
  ]);
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

  test("is private, or in a folder or a file that others can open", async () => {
    const { folder, settings } = await dataFolder();
    const check = () => named("data folder", settings);
    expect(await check()).toEqual([`ok ${folder}: mode 0700, no file is readable by others`]);
    await chmod(join(folder, "pglite/PG_VERSION"), 0o644);
    const file = `others can open files in it (1), e.g. ${folder}/pglite/PG_VERSION`;
    expect(await check()).toEqual([`fail ${file} Mend: chmod -R go= ${folder}`]);
    await chmod(folder, 0o755);
    expect(await check()).toEqual([
      `fail ${folder} has the mode 0755: others can open it Mend: chmod -R go= ${folder}`,
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
      ["warn", "passkeys", `off, because browsers have none for ${settings.APP_URL}`],
      ["ok", "data folder", `${folder}: mode 0700, no file is readable by others`],
      ["skip", "database", `The data folder ${folder} is in use by another process`],
      ["ok", "migrations", `all applied: ${settings.APP_URL}/readyz says ready`],
      ["warn", "mail", "log: mails are written to standard output, with their links"],
      ["ok", "provider", "off"],
      ["ok", "APP_URL", `${settings.APP_URL} leads to this service`],
      ["ok", "proxy", "none trusted; the service sees APP_URL"],
    ]);
  });
});

const at = (port: number, scheme = "smtp") => mailSettings(`${scheme}://${credentials}@localhost:${port}`);
const withoutDatabase = () => ({ DATABASE_URL: `pglite:${folder}/data`, ...trusting() });

testCases(
  "mail",
  {
    "a closed port": async () => {
      const port = await freePort();
      return [
        at(port),
        `fail localhost:${port} refuses the connection Mend: correct host and port in SMTP_URL, or start the mail server`,
      ];
    },
    "a host that does not exist": async () => [
      mailSettings(`smtp://${credentials}@nowhere.invalid:587`),
      /^fail the host nowhere\.invalid cannot be found Mend: /,
    ],
    "a certificate for another name": async () => {
      const { port } = await smtp({ secure: true, ...authority.sign("DNS:other.example") });
      const words = "is not valid for localhost \\(ESOCKET ERR_TLS_CERT_ALTNAME_INVALID\\) Mend: .*NODE_EXTRA_CA_CERTS";
      return [at(port, "smtps"), new RegExp(`^fail the certificate of localhost:${port} ${words}`)];
    },
    "TLS from the start on a port without it": async () => {
      const { port } = await smtp();
      return [
        at(port, "smtps"),
        `fail localhost:${port} does not start with TLS Mend: use smtp:// (STARTTLS, port 587) in SMTP_URL`,
      ];
    },
    "a login that is refused": async () => {
      const { port } = await smtp();
      return [
        mailSettings(`smtp://user:a-wrong-secret@localhost:${port}`),
        `fail localhost:${port} refuses the login (EAUTH 535) Mend: correct user and password in SMTP_URL; both are percent-encoded there`,
      ];
    },
    "silence, for ten seconds": async () => {
      const { port } = await startScriptedServer(() => {});
      return [at(port), new RegExp(`^fail localhost:${port} did not answer in time Mend: open the port`)];
    },
    "a mail API that is not reached": async () => [
      { ...resend, APP_URL, MAIL_API_URL: `http://127.0.0.1:${await freePort()}` },
      /^fail Resend cannot be reached \(unreachable, ECONNREFUSED\) Mend: /,
    ],
  },
  withoutDatabase,
);

test("mail: a sender with another name than the pages is a warning", async () => {
  const settings = { ...withoutDatabase(), MAIL_FROM: "Example <mail@latchkey.example>", NODE_ENV: "test" };
  const sent = "ok log: mails are written to standard output";
  expect(await named("mail", settings)).toEqual([
    'warn mails come from "Example", and say that they are of "Latchkey" Mend: give MAIL_FROM and BRAND_NAME the same name',
    sent,
  ]);
  expect(await named("mail", { ...settings, BRAND_NAME: "Example" })).toEqual([sent]);
});

test("test mail: the recipient is refused or invalid", async () => {
  const { port } = await smtp({
    onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error("No"), { responseCode: 550 })),
  });
  const check = (address: string) => named("test mail", { ...withoutDatabase(), ...at(port) }, ["--mail", address]);
  expect(await check("you@example.org")).toEqual([
    expect.stringMatching(/^fail the mail service refuses the recipient Mend: /),
  ]);
  expect(await check("nobody")).toEqual([expect.stringMatching(/^fail the address is none Mend: /)]);
});

async function listening(answer: RequestListener): Promise<string> {
  const { port, stop } = await listen(createServer(answer));
  onTestFinished(stop);
  return `http://127.0.0.1:${port}`;
}

const resend = { MAIL_DRIVER: "resend", MAIL_FROM: "mail@latchkey.example", RESEND_API_KEY: "re_secret" };
const postmark = { MAIL_DRIVER: "postmark", MAIL_FROM: "mail@latchkey.example", POSTMARK_SERVER_TOKEN: "re_secret" };

const refusal = (service: string, why: string, setting: string) =>
  `fail ${service} refuses the key (${why}) Mend: correct ${setting}: the service's website has it`;
const noKey = refusal("Resend", "status 403, invalid_api_key", "RESEND_API_KEY");
const noToken = refusal("Postmark", "status 401, 10", "POSTMARK_SERVER_TOKEN");

test.each([
  ["Resend: full access", resend, "/domains", 200, { data: [] }, "ok resend: the key is accepted"],
  ["Resend: may only send", resend, "/domains", 401, { name: "restricted_api_key" }, "ok resend: the key is accepted"],
  ["Resend: wrong", resend, "/domains", 403, { name: "invalid_api_key" }, noKey],
  ["Postmark: right", postmark, "/server", 200, { ID: 1 }, "ok postmark: the key is accepted"],
  ["Postmark: wrong", postmark, "/server", 401, { ErrorCode: 10 }, noToken],
])("mail: the key of %s", async (_what, settings, path, status, body, line) => {
  const requests: (string | undefined)[] = [];
  const MAIL_API_URL = await listening(({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers.authorization ?? headers["x-postmark-server-token"]}`);
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  expect(await named("mail", { ...withoutDatabase(), ...settings, APP_URL, MAIL_API_URL })).toEqual([line]);
  expect(requests).toEqual([`GET ${path} ${settings === resend ? "Bearer " : ""}re_secret`]);
});

async function identityProvider() {
  const provider = await startIdentityProvider("http://localhost:3000/auth/idp/callback");
  onTestFinished(() => provider.stop());
  return provider;
}

testCases(
  "provider",
  {
    "it refuses a wrong client secret": async () => [
      { ...(await identityProvider()).settings, IDP_CLIENT_SECRET: "a-wrong-secret" },
      "fail oidc: the provider refuses the client's credentials (invalid_client) Mend: copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again",
    ],
    "it is not at IDP_ISSUER": async () => {
      const { settings, url } = await identityProvider();
      return [
        { ...settings, IDP_ISSUER: `${url}/other` },
        /^fail oidc: discovery at http.*\/other failed \(status 404\) Mend: correct IDP_ISSUER/,
      ];
    },
    "it has an endpoint that does not answer": async () => [
      { ...(await identityProvider()).settings, IDP_AUTHORIZE_URL: `http://localhost:${await freePort()}/authorize` },
      /^fail oidc: http:\/\/localhost:\d+\/authorize does not answer \(unreachable, ECONNREFUSED\) Mend: /,
    ],
  },
  withoutDatabase,
);

testCases(
  "APP_URL",
  {
    "it leads nowhere": async () => [
      { APP_URL: `http://localhost:${await freePort()}` },
      /^fail http:\S+ does not lead to this service \(ECONNREFUSED\) Mend: start the service and the proxy, or correct APP_URL/,
    ],
    "it leads to another installation": async () => [
      { APP_URL: other.url },
      /^fail http:\S+ leads to another installation of Latchkey Mend: /,
    ],
    "it has a certificate that is not trusted": async () => [
      { NODE_EXTRA_CA_CERTS: "" },
      /^fail the certificate of https:\/\/localhost:\d+ is not trusted \(\w+\) Mend: /,
    ],
  },
  () => behindProxy(),
);

test.each([
  [404, "text/html", "Not here", "status 404"],
  [200, "text/html", "<!doctype html>", "not_json"],
  [200, "application/json", '{"installation":null,"origin":"","client":"proxy"}', "unexpected"],
  [200, "application/json", '{"installation":null,"origin":"http://x/\\u001b[2K","client":"proxy"}', "unexpected"],
  [301, "text/plain", "", "redirect 301"],
])("APP_URL: it leads to another website, which answers %i %s %s", async (status, type, body, reason) => {
  const APP_URL = await listening((_request, response) => {
    response.writeHead(status, { "Content-Type": type, Location: "https://elsewhere.example/" }).end(body);
  });
  const [line] = await named("APP_URL", { ...behindProxy(), APP_URL });
  expect(line).toContain(`fail ${APP_URL} does not lead to this service (${reason}) Mend: `);
});

test.each<[string, () => string | Promise<string>, () => string]>([
  ["missing", () => `pglite:${folder}/data`, () => `there is no database in ${folder}/data`],
  ["not migrated", () => cluster.createDatabase(), () => "its database is not migrated"],
  ["not reached", () => "postgresql://postgres@127.0.0.1:1/x", () => "its database cannot be opened"],
])(
  "APP_URL leads to a service, but the own database is %s: they are not compared, and no proxy is judged",
  async (_what, url, reason) => {
    const settings = { DATABASE_URL: await url(), APP_URL: other.url, PORT: String(other.port) };
    const checks = (await examine(settings)).filter(({ name }) => ["APP_URL", "proxy"].includes(name));
    const found = `${other.url} leads to a Latchkey that cannot be compared with this installation: ${reason()}`;
    expect(checks).toEqual([
      { status: "warn", name: "APP_URL", found, mend: "mend the database check, then run this again" },
    ]);
  },
);

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

const chosen = /^fail a client can choose X-Forwarded-Proto or X-Forwarded-Host Mend: /;

test.each([
  [
    "does not send X-Forwarded-Proto",
    without("x-forwarded-proto"),
    /^fail the service sees http:\S+ instead of https:\S+ Mend: let the proxy send X-Forwarded-Proto/,
  ],
  [
    "replaces Host and does not send X-Forwarded-Host",
    without("x-forwarded-host", "upstream:3000"),
    /^fail the service sees https:\/\/upstream:3000 instead of https:\S+ Mend: let the proxy send X-Forwarded-Host/,
  ],
  [
    "does not send X-Forwarded-For",
    without("x-forwarded-for"),
    /^fail the proxy sends no X-Forwarded-For: all clients share one limit Mend: /,
  ],
  [
    "passes on X-Forwarded-For",
    passing("x-forwarded-for"),
    /^fail a client can choose its own address with X-Forwarded-For Mend: /,
  ],
  ["passes on X-Forwarded-Proto", passing("x-forwarded-proto"), chosen],
  ["passes on X-Forwarded-Host", passing("x-forwarded-host"), chosen],
])("proxy: it %s", async (_what, how, line) => {
  rewrite = how;
  expect(await named("proxy", behindProxy())).toEqual([expect.stringMatching(line)]);
});

test("proxy: it is in front, but TRUST_PROXY is false; it is not there, but TRUST_PROXY is 1", async () => {
  const direct = await startReverseProxy(() => other.port, setEvery, authority.sign("DNS:localhost"));
  onTestFinished(() => direct.stop());
  const settings = { ...trusting(), DATABASE_URL: other.databaseUrl, PORT: String(other.port) };
  const [line] = await named("proxy", { ...settings, APP_URL: `https://localhost:${direct.port}` });
  expect(line).toMatch(/^fail the service sees http:\S+ instead of https:\S+ Mend: set TRUST_PROXY to the number/);
  expect(await named("proxy", { ...behindProxy(), APP_URL: service.url })).toEqual([expect.stringMatching(chosen)]);
});
