import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { temporaryFolder } from "../deploy/host";
import { createAuthority } from "../support/certificates";
import { listen } from "../support/listen";
import { freePort } from "../support/server";
import { onOneHost, type ProxyName, type StartApplication, startApplication, startExample } from "./example";

type Line = [nginx: string, caddy: string];

type Installation = Awaited<ReturnType<typeof onOneHost>>;

/** Changes what an operator wrote. */
interface Mistake {
  configuration?: (text: string) => string;
  settings?: Record<string, string>;
  application?: Record<string, string>;
  /** Past the proxy. */
  at?: string;
  behind?: StartApplication;
}

async function linesOf(installation: Installation, { configuration = (text) => text, ...mistake }: Mistake) {
  const example = await startExample(
    {
      ...installation,
      configuration: configuration(installation.configuration),
      settings: { ...installation.settings, ...mistake.settings },
      application: { ...installation.application, ...mistake.application },
    },
    mistake.behind ?? startApplication,
  );
  onTestFinished(() => example.stop());
  const at = mistake.at === undefined ? [] : ["--at", example.withPorts(mistake.at)];
  const { stdout } = await example.command("doctor", "--outside", "--json", ...at);
  return (JSON.parse(stdout) as Check[]).map(({ status, found }) => `${status} ${found}`);
}

const linesWith = async (proxy: ProxyName, mistake: Mistake = {}) => linesOf(await onOneHost(proxy), mistake);

const wrongLines = (lines: string[]) => lines.filter((line) => /^(?:fail|warn)/.test(line));

describe.each<ProxyName>(["nginx", "caddy"])("behind %s", (proxy) => {
  test("no line of the example fails", { timeout: 60_000 }, async () => {
    const lines = await linesWith(proxy);
    expect(wrongLines(lines)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ok http:\S+ \(127\.0\.0\.1\) believes no forged X-Forwarded/));
    expect(lines).toContainEqual(expect.stringMatching(/^ok http:\S+ asks everybody to sign in$/));
  });
});

/** A line of the site, for each proxy. */
const inSite =
  (...[nginx, caddy]: Line) =>
  (text: string) =>
    text
      .replace("    set $public_host", `    ${nginx}\n    set $public_host`)
      .replace("\n\trequest_header Host", `\n\t${caddy}\n\trequest_header Host`);

/** The proxy does not ask the door at this location. */
const withoutDoor = (text: string) =>
  text
    .replace("auth_request /_verify;", "")
    .replace(/\t\t\tforward_auth 127\.0\.0\.1:3000 \{\n[\s\S]*?\n\t\t\t\}\n/, "");

const withoutRemoval = (text: string) =>
  text.replaceAll(/proxy_set_header Remote-.*/g, "").replace("request_header -Remote*\n", "\n");

const unverified = { JWKS_URL: "" };
const answered = /^fail \S+ answers 200 to a forged Remote-User without a session$/;

/** An application as in CGI and WSGI: `Remote_User` is the same variable as `Remote-User`. */
const startCgi: StartApplication = (port) =>
  listen(
    createServer(({ headers }, response) => {
      response.writeHead(headers["remote-user"] || headers.remote_user ? 200 : 401).end();
    }),
    port,
  );

const appended = (text: string) =>
  text.replaceAll("X-Forwarded-For $remote_addr", "X-Forwarded-For $proxy_add_x_forwarded_for").replace(
    "handle @latchkey {\n\t\treverse_proxy 127.0.0.1:3000\n",
    `handle @latchkey {\n\t\treverse_proxy 127.0.0.1:3000 {
\t\t\theader_up X-Forwarded-For "{header.X-Forwarded-For}, {remote_host}"\n\t\t}\n`,
  );

const mistakes: [string, Mistake | (() => Promise<Mistake>), RegExp][] = [
  [
    "X-Forwarded-For is appended to what the client sent, and TRUST_PROXY is 2",
    { configuration: appended, settings: { TRUST_PROXY: "2" } },
    /^fail .* a client chooses its own address with X-Forwarded-For$/,
  ],
  [
    "the proxy adds a CSP",
    {
      configuration: inSite(
        `add_header Content-Security-Policy "default-src *" always;`,
        `header +Content-Security-Policy "default-src *"`,
      ),
    },
    /^fail content-security-policy arrives 2 times$/,
  ],
  [
    "the door is forgotten",
    { configuration: withoutDoor },
    /^fail \S+ answers \d+ to a navigation and \d+ to a script, not 302 to \/login and 401$/,
  ],
  [
    "the door is forgotten, Remote-* is let through, and the application verifies no token",
    { configuration: (text) => withoutRemoval(withoutDoor(text)), application: unverified },
    answered,
  ],
  [
    "the door is forgotten, and Remote_User is let through",
    {
      configuration: (text) =>
        inSite(
          "underscores_in_headers on;",
          "",
        )(withoutDoor(text))
          .replace("request_header -Remote*", "request_header -Remote-*")
          .replace(/request_header -\*_\*/, ""),
      behind: startCgi,
    },
    answered,
  ],
  [
    "the application can be reached beside the proxy, and verifies no token",
    { at: "http://localhost:8000/", application: unverified },
    answered,
  ],
  [
    "the metrics are passed on",
    async () => {
      const port = String(await freePort());
      return {
        configuration: inSite(
          `location = /metrics { proxy_pass http://127.0.0.1:${port}; }`,
          `handle /metrics {\n\t\treverse_proxy 127.0.0.1:${port}\n\t}`,
        ),
        settings: { METRICS_PORT: port },
      };
    },
    /^fail \S+\/metrics is public$/,
  ],
  [
    "APP_URL has another port than the proxy",
    async () => ({ settings: { APP_URL: `http://localhost:${await freePort()}` } }),
    /^fail http:\/\/localhost:\d+ \(\S+\) refuses the connection$/,
  ],
];

describe.each<ProxyName>(["nginx", "caddy"])("one line names the mistake at %s:", (proxy) => {
  test.each(mistakes)("%s", { timeout: 60_000 }, async (_what, mistake, line) => {
    const given = typeof mistake === "function" ? await mistake() : mistake;
    expect(wrongLines(await linesWith(proxy, given))).toEqual([expect.stringMatching(line)]);
  });
});

test.each<ProxyName>(["nginx", "caddy"])(
  "X-Forwarded-For that is appended does no harm with TRUST_PROXY=true, which believes the last address (%s)",
  { timeout: 60_000 },
  async (proxy) => {
    expect(wrongLines(await linesWith(proxy, { configuration: appended, settings: { TRUST_PROXY: "true" } }))).toEqual(
      [],
    );
  },
);

/** login.example.org over https, beside its apex and port 80. */
interface PublicSite {
  certificate?: string;
  /** What the apex answers, and port 80. */
  apex?: Line;
  plain?: Line;
  more?: Line;
}

const door: Line = ["proxy_pass http://127.0.0.1:3000;", "reverse_proxy 127.0.0.1:3000"];
const redirect: Line = [
  "return 301 https://login.example.org$request_uri;",
  "redir https://login.example.org{uri} 301",
];

const authority = createAuthority();

async function publicLines(proxy: ProxyName, site: PublicSite = {}) {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const signed = {
    login: authority.sign(`DNS:${site.certificate ?? "login.example.org"}`),
    apex: authority.sign("DNS:example.org"),
  };
  for (const [name, { cert, key }] of Object.entries(signed)) {
    await writeFile(join(folder, `${name}.pem`), cert);
    await writeFile(join(folder, `${name}.key`), key);
  }
  await writeFile(join(folder, "ca.pem"), authority.ca);
  const plainPort = await freePort();
  const { apex = door, plain = redirect, more = ["", ""] } = site;
  const files = (name: string) => [join(folder, `${name}.pem`), join(folder, `${name}.key`)] as const;
  const tls = (name: string) => `ssl_certificate ${files(name)[0]}; ssl_certificate_key ${files(name)[1]};`;
  const configuration = (text: string) =>
    inSite(...more)(text)
      .replace("listen 127.0.0.1:8080;", `listen 127.0.0.1:8080 ssl; server_name login.example.org; ${tls("login")}`)
      .replace("set $public_host localhost:8080", "set $public_host login.example.org")
      .replace(
        /\}\s*$/,
        proxy === "caddy"
          ? `}\nhttps://example.org:8080 {\n\tbind 127.0.0.1\n\ttls ${files("apex").join(" ")}\n\t${apex[1]}\n}
http://login.example.org:${plainPort} {\n\tbind 127.0.0.1\n\t${plain[1]}\n}\n`
          : `server { listen 127.0.0.1:8080 ssl; server_name example.org; ${tls("apex")} location / { ${apex[0]} } }
server { listen 127.0.0.1:${plainPort}; location / { ${plain[0]} } } }`,
      )
      .replace("admin off", `admin off\n\tauto_https off`)
      .replace("http://localhost:8080 {", `https://login.example.org:8080 {\n\ttls ${files("login").join(" ")}`)
      .replace("request_header Host localhost:8080", "request_header Host login.example.org");
  const installation = await onOneHost(proxy);
  const { settings, application } = installation;
  const APP_URL = "https://login.example.org";
  return linesOf(
    {
      ...installation,
      settings: {
        ...settings,
        APP_URL,
        PASSKEY_RP_ID: "example.org",
        NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
        NODE_OPTIONS: `--import "${resolve("tests/examples/public-ports.mjs")}"`,
        PUBLIC_PORTS: `443=8080,80=${plainPort}`,
      },
      application: { ...application, ISSUER: APP_URL, AUDIENCE: APP_URL },
    },
    { configuration },
  );
}

describe.each<ProxyName>(["nginx", "caddy"])("on a public name behind %s", (proxy) => {
  test("no line fails", { timeout: 60_000 }, async () => {
    const lines = await publicLines(proxy);
    expect(wrongLines(lines)).toEqual([]);
    expect(lines).toContain("ok http leads to https");
    expect(lines).toContain("ok the files of /.well-known/ are where they belong");
  });

  test.each<[string, PublicSite, RegExp]>([
    [
      "HSTS arrives twice",
      {
        more: [
          `add_header Strict-Transport-Security "max-age=63072000" always;`,
          `header +Strict-Transport-Security "max-age=63072000"`,
        ],
      },
      /^fail strict-transport-security arrives 2 times$/,
    ],
    [
      "http does not lead to https",
      { plain: door },
      /^fail http:\/\/login\.example\.org answers \d+ and does not lead to https$/,
    ],
    [
      "the certificate is of another name",
      { certificate: "other.example.org" },
      /^fail the certificate at https:\/\/login\.example\.org \(127\.0\.0\.1\) is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    ],
    [
      "/.well-known/ of the apex is missing",
      { apex: ["return 404;", "respond 404"] },
      /^fail https:\/\/example\.org\/\.well-known\/passkey-endpoints is missing \(404\)$/,
    ],
  ])("one line names the mistake: %s", { timeout: 60_000 }, async (_what, site, line) => {
    const failed = (await publicLines(proxy, site)).filter((one) => one.startsWith("fail"));
    expect(failed).toEqual([expect.stringMatching(line)]);
  });
});
