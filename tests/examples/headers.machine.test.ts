import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send, sendPlainly } from "../support/http";
import { listen } from "../support/listen";
import { exchange } from "../support/raw-http";
import type { Visitor } from "../support/visitor";
import {
  type Example,
  onOneHost,
  type ProxyName,
  register,
  type StartApplication,
  startExample,
  withPreflights,
} from "./example";

/** An application that answers with the headers it has got. It takes each offer of another protocol, and echoes once. */
const startRecorder: StartApplication = async (port) => {
  const headersOf = (request: IncomingMessage) => `${JSON.stringify(request.rawHeaders)}\n`;
  const server = createServer((request, response) => response.end(headersOf(request)));
  server.on("upgrade", (request, socket) => {
    const { upgrade } = request.headers;
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", `Upgrade: ${upgrade}`, "", ""];
    socket.write(lines.join("\r\n") + headersOf(request));
    socket.once("data", (chunk) => socket.end(chunk));
  });
  return listen(server, port);
};

interface Got {
  status: number;
  echo: string;
  headers: [name: string, value: string][];
}

/** What the application has got; of a refusal, no headers. */
function gotOf({ status, body }: { status: number; body: string }): Got {
  const [line = "", echo = ""] = body.startsWith("[") ? body.split("\n") : [];
  const raw: string[] = line === "" ? [] : JSON.parse(line);
  return {
    status,
    echo: echo.trim(),
    headers: raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""]] : [])),
  };
}

/** The headers with such a name. What the user does not have is empty or absent. */
const named = ({ headers }: Pick<Got, "headers">, name: RegExp) =>
  headers.filter(([key, value]) => name.test(key) && !(/^Remote-(?:Name|Groups)$/.test(key) && value === "")).sort();

const user = [
  ["Remote-Email", "client@example.com"],
  ["Remote-Token", expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)],
  ["Remote-User", expect.stringMatching(/^[0-9a-f-]{36}$/)],
];

const refused: Got = { status: 401, echo: "", headers: [] };

describe.each<ProxyName>(["nginx", "caddy"])("behind %s", (proxy) => {
  let example: Example;
  let visitor: Visitor;

  beforeAll(async () => {
    const { configuration, ...others } = await onOneHost(proxy);
    example = await startExample({ ...others, configuration: withPreflights(configuration) }, startRecorder);
    visitor = await register(example, "client@example.com");
  });

  afterAll(() => example.stop());

  const get = async (headers: Record<string, string>) => gotOf(await visitor.get("/notes", headers));

  /** Sends what fetch refuses to send. The header lines must end the connection. */
  async function sendLines(
    lines: string[],
    { cookie = visitor.cookie, target = "/notes", host = "" } = {},
  ): Promise<Got> {
    const { port, host: own } = new URL(example.url);
    const head = [`GET ${target} HTTP/1.1`, `Host: ${host || own}`, `Cookie: ${cookie}`];
    return gotOf(await exchange(Number(port), [...head, ...lines], "hello"));
  }

  describe("with the lines for CORS preflights", () => {
    const preflight = { Origin: "https://app.example", "Access-Control-Request-Method": "PUT", "Remote-User": "root" };

    test("OPTIONS reaches the application without a user", async () => {
      const got = gotOf(await send(example.url, "/notes", { method: "OPTIONS", headers: preflight }));
      expect(got.status).toBe(200);
      expect(named(got, /^(?:remote|origin)/i)).toEqual([["Origin", "https://app.example"]]);
    });

    test.each(["GET", "POST", "PUT"])("%s without a session is 401", async (method) => {
      expect((await send(example.url, "/notes", { method, headers: preflight })).status).toBe(401);
    });
  });

  test.each([
    ["none", {}],
    ["those of the answer", { "Remote-User": "root", "remote-email": "root@example.com", "REMOTE-NAME": "Root" }],
    ["a group", { "Remote-Groups": "admin", Remote_Groups: "admin", "Remote.Groups": "admin" }],
    ["a token", { "Remote-Token": "forged", Remote_Token: "forged", "Remote.Token": "forged" }],
    [
      "underscores",
      { Remote_User: "root", remote_email: "root@example.com", REMOTE_NAME: "Root", Remote_Role: "admin" },
    ],
    ["other characters", { "Remote.User": "root", "Remote~User": "root", "Remote!Name": "Root" }],
  ])(
    "of a client's headers about the user none reaches the application: %s",
    { tags: ["4.1.3", "CVE-2025-64484", "CVE-2026-52845", "CVE-2026-88011", "GHSA-7r4p-vjf4-gxv4"] },
    async (_which, forged) => {
      const got = await get(forged);
      expect(got.status).toBe(200);
      expect(named(got, /^remote/i)).toEqual(user);
      expect((await send(example.url, "/notes", { headers: forged })).status).toBe(401);
    },
  );

  test("of a client's other Remote-* headers nginx passes on all where Caddy passes on none", async () => {
    const others = { "Remote-Is-Admin": "1", "Remote-Role": "admin" };
    const passed = { nginx: Object.entries(others), caddy: [] };
    expect(named(await get(others), /^remote/i)).toEqual([...user, ...passed[proxy]].sort());
  });

  /** The visitor's cookies without the session's. */
  const applicationCookie = () => visitor.cookie.replace(/(?:^|; )session=\w+/, "").replace(/^; /, "");

  test.each(["bound", "__Host-bound", "__Secure-bound"])(
    "the cookie %s does not reach the application",
    async (name) => {
      const got = await sendLines(["Connection: close"], { cookie: `${name}=x; ${visitor.cookie}` });
      expect(named(got, /^cookie/i)).toEqual([["Cookie", applicationCookie()]]);
    },
  );

  test("the query of the application's page does not reach Latchkey", async () => {
    expect(gotOf(await visitor.get("/notes?group=sales")).status).toBe(200);
  });

  test.each(["localhost", "localhost:8443"])(
    "a client that names the host %s gets a token for this one alone",
    async (host) => {
      const got = await sendLines(["Connection: close"], { host });
      const own = new URL(example.url).host;
      expect(named(got, /^(?:x-forwarded-)?host$/i)).toEqual([
        ["Host", own],
        ["X-Forwarded-Host", own],
      ]);
      const [[, token = ""] = []] = named(got, /^remote-token$/i);
      expect(decodeJwt(token).aud).toBe(example.url);
    },
  );

  test("a 401 names one scheme of authentication", async () => {
    const answer = await sendPlainly(example.url, "/notes");
    expect([answer.status, answer.headers.get("WWW-Authenticate")]).toEqual([401, 'Cookie realm="Latchkey"']);
  });

  test("a header with an underscore does not reach the application", {
    tags: ["CVE-2026-39858", "CVE-2026-54763"],
  }, async () => {
    expect(named(await get({ X_Forwarded_For: "203.0.113.9", X_Any: "1" }), /_/)).toEqual([]);
  });

  test.each([
    ["one line", ["Connection: close, Remote-User, Remote-Email, Remote-Name, Remote-Groups, Remote-Token"]],
    ["two lines", ["Connection: close", "Connection: Remote-User"]],
    ["with the session cookie", ["Connection: close, Remote-User, Cookie"]],
    ["with the proxy's own", ["Connection: close, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto"]],
    ["with an upgrade", ["Connection: close, Upgrade, Remote-User", "Upgrade: websocket"]],
  ])(
    "a client cannot remove headers by naming them in Connection: %s",
    { tags: "CVE-2024-45410" },
    async (_how, lines) => {
      const got = await sendLines(lines);
      expect(named(got, /^remote/i)).toEqual(user);
      expect(named(got, /^(?:cookie|x-forwarded-)/i)).toEqual([
        ["Cookie", applicationCookie()],
        ["X-Forwarded-For", "127.0.0.1"],
        ["X-Forwarded-Host", new URL(example.url).host],
        ["X-Forwarded-Proto", "http"],
      ]);
      expect(await sendLines(lines, { cookie: "" })).toEqual(refused);
    },
  );

  describe.each([
    "Upgrade",
    "keep-alive, Upgrade", // Firefox
  ])("a websocket (Connection: %s)", (connection) => {
    const upgrade = ["Upgrade: WebSocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

    test("passes on what both sides send", async () => {
      expect(await sendLines([`Connection: ${connection}`, ...upgrade])).toMatchObject({ status: 101, echo: "hello" });
    });

    test("has the user", async () => {
      const got = await sendLines([`Connection: ${connection}`, ...upgrade]);
      expect(named(got, /^remote/i)).toEqual(user);
      expect(named(got, /^upgrade/i)).toEqual([["Upgrade", expect.stringMatching(/^websocket$/i)]]);
    });

    test("is refused without a session", async () => {
      expect(await sendLines([`Connection: ${connection}, close`, ...upgrade], { cookie: "" })).toEqual(refused);
    });
  });

  // nginx before 1.23 reads the first of two, later ones read both.
  test("of two upgrades the application gets a websocket at most", async () => {
    const lines = ["Connection: close, Upgrade", "Upgrade: websocket", "Upgrade: h2c"];
    const got = await sendLines(lines);
    expect(named(got, /^upgrade/i)).toEqual(got.status === 101 ? [["Upgrade", "websocket"]] : []);
    expect(named(got, /^remote/i)).toEqual(user);
  });

  // After an upgrade to h2c, the proxy copies bytes: the client would send requests of its own making.
  test.each([
    [["Upgrade: h2c"]],
    [["Upgrade: h2c, websocket"]],
    [["Upgrade: h2c", "Upgrade: websocket"]],
    [["Upgrade: websocket/13"]],
  ])("an upgrade to another protocol does not reach the application: %j", async (lines) => {
    const got = await sendLines(["Connection: close, Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk", ...lines]);
    expect(got.status).toBe(200);
    expect(named(got, /^upgrade/i)).toEqual([]);
    expect(named(got, /^remote/i)).toEqual(user);
  });

  test.each([
    ["two hosts", "/notes", ["Host: evil.example"], 400],
    ["targets of another host", "http://evil.example/notes", [], 200],
  ])("%s do not become the application's host", async (_what, target, lines, status) => {
    const got = await sendLines(["Connection: close", ...lines], { target });
    expect(got.status).toBe(status);
    // Caddy has no such site, and answers with an empty page.
    expect(named(got, /^host/i)).toEqual(
      status === 200 && proxy === "nginx" ? [["Host", new URL(example.url).host]] : [],
    );
  });
});

/** The directives of a Caddyfile's route: with its snippets in their places; without comments, groups and addresses. */
function directivesOf(caddyfile: string): string[] {
  const snippet = (name: string) =>
    new RegExp(`\\n\\(${name}\\) \\{\\n([\\s\\S]*?)\\n\\}`).exec(caddyfile)?.[1] ?? `no ${name}`;
  const [, route = ""] = /\n\t*route \{\n([\s\S]*?\n\t*reverse_proxy)/.exec(caddyfile) ?? [];
  return route
    .replace(/import (\w+)/g, (_, name: string) => snippet(name))
    .replace(/(?<=\/auth\/verify\?)\S+/, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !line.startsWith("#"));
}

test.each(["README.md", "docs/organisation.md"])("%s shows the directives of the Caddyfile", async (document) => {
  const [shown, caddyfile] = await Promise.all([document, "examples/Caddyfile"].map((file) => readFile(file, "utf8")));
  expect(directivesOf(shown ?? "")).toContain("uri /auth/verify?");
  expect(directivesOf(shown ?? "")).toEqual(directivesOf(caddyfile ?? ""));
});
