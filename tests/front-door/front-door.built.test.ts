import { randomBytes } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../support/property-runs";
import { sendBytes, statusOf } from "../support/raw-http";
import { runLatchkey } from "../support/running-latchkey";
import { until } from "../support/until";
import { answersOf } from "./answers";

const latchkey = runLatchkey({
  TRUST_PROXY: "false",
  IDP_CLIENT_ID: "id",
  IDP_CLIENT_SECRET: "s3cret",
  NODE_OPTIONS: "--max-old-space-size=256",
});

const ownHost = "Host: localhost\r\nConnection: close\r\n";
const form = "Content-Type: application/x-www-form-urlencoded\r\n";
const body = (text: string) => `Content-Length: ${Buffer.byteLength(text, "latin1")}\r\n\r\n${text}`;
const chunk = (size: number) => `${size.toString(16)}\r\n${"a".repeat(size)}\r\n`;
const part = (head: string) => `--x\r\n${head}\r\n\r\nvalue\r\n--x--\r\n`;

const send = (bytes: string) => sendBytes(latchkey.port(), bytes);

const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\n${ownHost}${more}\r\n`;
const post = (target: string, text: string, more = form) => `POST ${target} HTTP/1.1\r\n${ownHost}${more}${body(text)}`;

describe("request lines", () => {
  test.each([
    ["the absolute-form of another authority", "GET http://evil.example/login HTTP/1.1", 200],
    ["the absolute-form without a path", "GET http://evil.example HTTP/1.1", 302],
    ["the absolute-form with credentials", "GET http://user:pass@evil.example/login HTTP/1.1", 200],
    ["another scheme", "GET ftp://evil.example/login HTTP/1.1", 400],
    ["two slashes and a host", "GET //evil.example HTTP/1.1", 404],
    ["two slashes, a host and an encoded parent", "GET //evil.example/%2e%2e HTTP/1.1", 302],
    ["two slashes, a host and the assets", "GET //evil.example/build/.. HTTP/1.1", 404],
    ["two slashes and a bracket", "GET //[ HTTP/1.1", 404],
    ["a backslash", "GET /\\evil.example HTTP/1.1", 404],
    ["a path traversal", "GET /../../etc/passwd HTTP/1.1", 404],
    ["an encoded path traversal from the assets", "GET /build/..%2f..%2fpackage.json HTTP/1.1", 404],
    ["a broken percent sign", "GET /%E0%A4%A HTTP/1.1", 400],
    ["a broken percent sign in page data", "GET /%E0%A4%A.data HTTP/1.1", 400],
    ["an encoded backslash", "GET /%5C HTTP/1.1", 400],
    ["an encoded backslash in page data", "GET /%5c.data HTTP/1.1", 400],
    ["an encoded backslash and a slash", "GET /%5Cu003c%2F HTTP/1.1", 400],
    ["a byte outside ASCII", "GET /caf\xe9 HTTP/1.1", 400],
    ["a path of 512 characters", `GET /${"a".repeat(511)} HTTP/1.1`, 404],
    ["a path of 513 characters", `GET /${"a".repeat(512)} HTTP/1.1`, 400],
    ["a path of 20,000 characters", `GET /${"a".repeat(20_000)} HTTP/1.1`, 431],
    ["an unknown method", "BREW /login HTTP/1.1", 400],
    ["HTTP/1.0", "GET /login HTTP/1.0", 200],
    ["HTTP/9.9", "GET /login HTTP/9.9", 400],
  ])("%s", async (_what, line, status) => {
    const answer = await send(`${line}\r\n${ownHost}\r\n`);
    expect(statusOf(answer)).toBe(status);
    expect(answer).not.toMatch(/\r\nLocation: (?!\/login\r)/i);
  });

  test("no path is answered with an error of the server", async () => {
    const unit = fc.constantFrom(
      ...["/", "\\", "%5C", "%5c", "%2F", "%25", "%255C", ".", "%2e", ":", "[", "@", "?", "&", "*", ";", "%0a", "%00"],
      ...["%3F", "%23", "#", "a", "u003c", "http:", "login", "build", ".data", "__manifest"],
    );
    const outcomes = { page: 0, notFound: 0, unreadable: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 6 }), async (units) => {
        const status = statusOf(await send(get(`/${units.join("")}`)));
        if (status === 404) outcomes.notFound++;
        else if (status === 400) outcomes.unreadable++;
        else if (status > 0 && status < 400) outcomes.page++;
        else expect.fail(`answered ${status}`);
      }),
      { numRuns: runs(200), verbose: fc.VerbosityLevel.Verbose },
    );
    await latchkey.flushed();
    expect(latchkey.output()).not.toMatch(/"level":(?:50|60)/);
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThanOrEqual(10);
  });

  test("CONNECT is closed without an answer", async () => {
    expect(await send(`CONNECT evil.example:443 HTTP/1.1\r\n${ownHost}\r\n`)).toBe("");
  });

  test("an Upgrade header is ignored", async () => {
    const asked = "Host: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n";
    expect(statusOf(await send(`GET /login HTTP/1.1\r\n${asked}\r\n`))).toBe(200);
  });

  describe("Expect", () => {
    const email = body("email=expects%40example.com");
    const expecting = (path: string, what: string) =>
      send(`POST ${path} HTTP/1.1\r\n${ownHost}${form}Expect: ${what}\r\n${email}`);

    test("100-continue is answered 100", async () => {
      expect(await expecting("/forgot-password", "100-continue")).toMatch(
        /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
      );
    });

    test("with any other value is answered 417", async () => {
      expect(statusOf(await expecting("/login", "the-impossible"))).toBe(417);
    });
  });
});

describe("Host", () => {
  const redirectUri = (answer: string) =>
    new URL(/\r\nLocation: (.*)\r\n/i.exec(answer)?.[1] ?? "").searchParams.get("redirect_uri");
  const leave = (head: string) => send(`GET /auth/idp HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  const configured = () => `${latchkey.url()}/auth/idp/callback`;

  test.each([
    ["none", ""],
    ["an empty value", "Host: \r\n"],
    ["a path", "Host: evil.example/path\r\n"],
    ["credentials", "Host: user@evil.example\r\n"],
    ["an unclosed bracket", "Host: [::1\r\n"],
    ["a port out of range", "Host: evil.example:99999\r\n"],
    ["a port that is not a decimal number", "Host: evil.example:0x50\r\n"],
    ["a blank", "Host: evil example\r\n"],
    ["a list", "Host: localhost, evil.example\r\n"],
    ["bytes outside ASCII", "Host: \xe9vil.example\r\n"],
  ])("%s: the configured origin is used", async (_what, head) => {
    const answer = await leave(head);
    if (statusOf(answer) === 400) return expect(answer).not.toContain("evil"); // Node's own parser refuses it
    expect(redirectUri(answer)).toBe(configured());
  });

  test("an IPv6 address keeps its port", async () => {
    expect(redirectUri(await leave("Host: [::1]:8443\r\n"))).toBe("http://[::1]:8443/auth/idp/callback");
  });

  test("the authority of an absolute-form target replaces it (RFC 9112 section 3.2.2)", async () => {
    const answer = await send(`GET http://a.example/auth/idp HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n`);
    expect(redirectUri(answer)).toBe("http://a.example/auth/idp/callback");
  });
});

describe("without a trusted proxy", () => {
  const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };

  test("forwarded headers do not change the redirect URI", { tags: "4.1.3" }, async () => {
    const sent = await latchkey.send("/auth/idp", { headers: forwarded });
    expect(new URL(sent.location ?? "").searchParams.get("redirect_uri")).toBe(`${latchkey.url()}/auth/idp/callback`);
  });

  test("forwarded headers do not make the cookies Secure", { tags: "4.1.3" }, async () => {
    const sent = await latchkey.send("/auth/idp", { headers: forwarded });
    expect(sent.setCookies).toEqual([
      expect.stringMatching(/^oauth_state=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax$/),
      expect.stringMatching(/^oauth_attempt_[0-9a-f]{32}=/),
    ]);
  });

  test("forwarded headers add no HSTS", { tags: "4.1.3" }, async () => {
    const sent = await latchkey.send("/auth/idp", { headers: forwarded });
    expect(sent.headers.has("Strict-Transport-Security")).toBe(false);
  });

  test("forwarded headers do not change the origin of a form", { tags: "4.1.3" }, async () => {
    const form = { email: "ada@example.com", password: "wrong" };
    const foreign = await latchkey.send("/login", { form, headers: { ...forwarded, Origin: "https://app.example" } });
    expect(foreign.status).toBe(403);
    expect((await latchkey.send("/login", { form, headers: forwarded })).status).toBe(422);
  });

  test("a foreign Host does not change the origin of mailed links", { tags: "CVE-2026-93453" }, async () => {
    const foreign = "Host: evil.example\r\nOrigin: http://evil.example\r\nConnection: close\r\n";
    expect(
      statusOf(await send(`POST /register HTTP/1.1\r\n${foreign}${form}${body("email=grace%40example.com")}`)),
    ).toBe(200);
    const { text } = await latchkey.mailTo("grace@example.com", "Finish creating your account");
    expect(text).toContain(`\n${latchkey.url()}/register/complete?email=grace%40example.com&token=`);
    expect(text).not.toContain("evil.example");
  });
});

describe("a form from another origin", () => {
  const foreign: [string, Record<string, string>][] = [
    ["its origin", { Origin: "https://evil.example" }],
    ["an opaque origin", { Origin: "null" }],
    ["an empty origin", { Origin: "" }],
    ["another port", { Origin: "http://localhost:1" }],
    ["another scheme", { Origin: "https://localhost" }],
    ["a host that begins with the service's host", { Origin: "http://localhost.evil.example" }],
    ["a malformed origin", { Origin: "localhost" }],
    ["Fetch Metadata alone", { "Sec-Fetch-Site": "cross-site" }],
    ["another host of the site", { "Sec-Fetch-Site": "same-site" }],
    ["an unknown Sec-Fetch-Site", { "Sec-Fetch-Site": "other" }],
  ];
  const posted = (path: string, headers: Record<string, string>) =>
    fetch(`${latchkey.url()}${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: "email=cross%40example.com&password=x",
    });

  test.each(foreign)("with %s is answered 403 with a page", { tags: "3.5.1" }, async (_what, headers) => {
    const answer = await posted("/login", headers);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("forms are only taken from our own pages");
    expect((await posted("/login.data", headers)).status).toBe(403);
    await latchkey.flushed();
    expect(latchkey.output()).not.toContain("cross@example.com");
  });

  test.each([{}, { "Sec-Fetch-Site": "same-origin" }, { "Sec-Fetch-Site": "none" }])(
    "with no Origin and %j is taken",
    async (headers) => {
      expect((await posted("/login", headers)).status).toBe(422);
    },
  );

  test("a method override header is ignored", async () => {
    const visitor = await latchkey.register("override@example.com");
    const overridden = { "X-HTTP-Method-Override": "POST", "X-Method-Override": "POST" };
    expect((await visitor.get("/logout?_method=POST", overridden)).status).toBe(200);
    expect((await visitor.get("/dashboard")).status).toBe(200);
  });
});

describe("bodies", () => {
  const multipart = "Content-Type: multipart/form-data; boundary=x\r\n";
  const disposition = 'Content-Disposition: form-data; name="password"';
  const utf7 = `${form.trimEnd()}; charset=utf-7\r\n`;
  const toLogin = `POST /login HTTP/1.1\r\n${ownHost}${form}`;
  const chunked = (chunks: string) => `${toLogin}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
  const lengthAndChunks = `${toLogin}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;

  test.each([
    ["no content type", post("/login", "a=b", ""), 415],
    ["a charset that hides characters (UTF-7)", post("/login", "email=+AGE-", utf7), 422],
    ["a compressed form", post("/login", "\x1f\x8b\x08\0garbage", `${form}Content-Encoding: gzip\r\n`), 422],
    ["an unclosed quote in the boundary", post("/login", "a", multipart.replace("=x", '="')), 422],
    ["a file in place of the password", post("/login", part(`${disposition}; filename="a"`), multipart), 422],
    ["fields named like Object.prototype's", post("/login", "__proto__=1&constructor=2&email[__proto__]=3"), 422],
    ["eight thousand fields", post("/login", "a&".repeat(8_000)), 422],
    ["bytes that are not valid UTF-8", post("/login", "email=%ff%00&password=%ed%a0%80"), 422],
    ["a length of a gigabyte", `${toLogin}Content-Length: 1073741824\r\n\r\na=b`, 413],
    ["chunks past the limit", chunked(chunk(9_000).repeat(9)), 413],
    ["a chunked form", chunked(chunk(3)), 422],
    ["a length and chunks at once (request smuggling)", `${lengthAndChunks}GET / HTTP/1.1\r\n\r\n`, 400],
    ["a negative length", `${toLogin}Content-Length: -1\r\n\r\n`, 400],
    ["two lengths", `${toLogin}Content-Length: 3\r\nContent-Length: 4\r\n\r\na=bc`, 400],
    ["a body on GET", `GET /login HTTP/1.1\r\n${ownHost}${form}${body("a=b")}`, 200],
    ["one header of 20,000 bytes", get("/login", `X-Long: ${"a".repeat(20_000)}\r\n`), 431],
    ["1,500 headers", get("/login", Array.from({ length: 1_500 }, (_, at) => `a${at}: b\r\n`).join("")), 200],
  ])("%s", async (_what, bytes, status) => {
    expect(statusOf(await send(bytes))).toBe(status);
  });

  test("a browser that uploads five megabytes receives the 413 page", async () => {
    const answer = await fetch(`${latchkey.url()}/login`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "a".repeat(5_000_000),
    });
    expect(answer.status).toBe(413);
    expect(await answer.text()).toContain("The form was longer than it can be.");
  });

  describe("connections that are reset during a form", () => {
    async function logOfResets(): Promise<string> {
      await latchkey.flushed();
      const before = latchkey.output().length;
      for (let count = 0; count < 20; count++) {
        const socket = net.connect(latchkey.port(), "127.0.0.1");
        socket.write(`POST /login HTTP/1.1\r\n${ownHost}${form}Expect: 100-continue\r\nContent-Length: 99\r\n\r\na=b`);
        await once(socket, "data"); // 100 Continue: the request has begun
        socket.resetAndDestroy();
      }
      const lines = () => latchkey.output().slice(before);
      await until(() => lines().match(/^POST \/login - /gm)?.length === 20, "20 access lines without a status");
      await latchkey.flushed();
      return lines();
    }

    test("have access lines without a status", async () => {
      expect(await logOfResets()).not.toMatch(/^POST \/login \d/m);
    });

    test("log no error", async () => {
      expect(await logOfResets()).not.toContain("Unexpected error");
    });
  });
});

describe("Remix's own URLs", () => {
  test.each([
    ["/login.data?_routes=,,root,__proto__", 200],
    ["/nowhere.data", 404],
    ["/login.data.data", 404],
    ["//evil.example.data", 404],
    ["/login?_data=routes/login", 400],
    ["/login?_data", 400],
    ["/__manifest", 204],
    ["/__manifest?version=..%2f&p=%2flogin", 204],
    ["/__manifest?version=0&p=%2f%250aforged", 400],
    ["/__manifest?p=%00", 400],
    ["/login?index&__proto__[x]=1&notice=__proto__", 200],
    ["/login?notice=%E0%A4%A", 200],
  ])("%s is answered %i", async (target, status) => {
    expect(statusOf(await send(get(target)))).toBe(status);
  });

  const longest = `p=/${"a".repeat(511)}&p=/${"b".repeat(511)}&p=/${"c".repeat(511)}`;

  // Remix would match thousands of segments for seconds.
  test.each([
    ["a path of 32 segments", 200, `p=/${"a/".repeat(31)}a`],
    ["a path of 33 segments", 400, `p=/${"a/".repeat(32)}a`],
    ["1,570 characters", 200, longest],
    ["over 2,048 characters", 400, `${longest}&p=/${"d".repeat(511)}`],
  ])("a request for the manifest of %s is answered %i", { tags: "CVE-2026-55685" }, async (_what, status, query) => {
    const page = (await latchkey.visit().get("/login")).body;
    const version = /"version":\s*"(\w+)"/.exec(page)?.[1];
    expect(version).toBeDefined();
    expect(statusOf(await send(get(`/__manifest?version=${version}&${query}`)))).toBe(status);
  });

  test("the account's page data without a session is a redirect to the login page", async () => {
    const answer = await send(get("/dashboard.data?_routes=routes/dashboard"));
    expect(statusOf(answer)).toBe(202);
    expect(answer).toContain("/login");
    expect(answer).not.toContain("sessions");
  });
});

test.each(["Range: bytes=999999-", 'If-Match: "other"', "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT"])(
  "an asset requested with %s is sent completely",
  async (header) => {
    expect(statusOf(await send(get("/favicon.svg", `${header}\r\n`)))).toBe(200);
    await latchkey.flushed();
    expect(latchkey.output()).not.toMatch(/^\s+at /m);
  },
);

describe("logs", () => {
  describe("contain no secret", () => {
    const canary = "c4nary";

    test.each([
      `/reset-password?token=${canary}`,
      `/reset-password%3Ftoken=${canary}`,
      `/reset-password%3ftoken=${canary}`,
      `http://localhost/reset-password?token=${canary}`,
      `/login#${canary}`,
      `/auth/idp/callback?code=${canary}&state=${canary}&error_description=${canary}`,
      `/login.data?token=${canary}`,
      `/nowhere?${canary}`,
      `/%E0%A4%A?${canary}`,
      `/login?_data=${canary}`,
      `/__manifest?p=/${canary}%00`,
      `/build/nowhere?${canary}`,
      `/auth/verify?${canary}`,
      `/auth/verify?group=${canary}&${canary}=${canary}`,
      `*?${canary}`,
    ])("of a request for %s", { tags: "16.2.5" }, async (target) => {
      await send(get(target, `Cookie: session=${canary}; oauth_state=${canary}\r\nReferer: http://x/?${canary}\r\n`));
      await send(`TRACE ${target} HTTP/1.1\r\n${ownHost}Authorization: ${canary}\r\n\r\n`);
      await latchkey.flushed();
      expect(latchkey.output()).not.toContain(canary);
    });

    test("of a form", { tags: "16.2.5" }, async () => {
      await send(post("/login", `email=${canary}&password=${canary}`));
      await send(post("/reset-password", `email=${canary}%40example.com&token=${canary}&password=${canary}`));
      await latchkey.flushed();
      expect(latchkey.output()).not.toContain(canary);
    });
  });

  test.each([
    ["/reset-password%253Femail=a&token=TOKEN", "/reset-password"],
    ["/reset-password&email=a%40example.com&token=TOKEN", "/reset-password"],
    ["/reset-password=3Femail=3Da%40example.com&token=3DTOKEN", "/reset-password"],
    ["/register/complete/token/TOKEN", "/register/complete/token/[hex]"],
    ["/register/complete;token=TOKEN", "/register/complete"],
    ["/nowhere/xTOKEN.data", "/nowhere/x[hex].data"],
  ])("contain no token of a malformed link: %s", async (mangled, logged) => {
    const token = randomBytes(32).toString("hex");
    for (const spelled of [token, token.toUpperCase()]) await send(get(mangled.replace("TOKEN", spelled)));
    const line = new RegExp(`^GET ${logged.replace(/[[\].]/g, "\\$&")} 404 `, "m");
    await latchkey.waitFor(line);
    await latchkey.flushed();
    expect(latchkey.output().toLowerCase()).not.toContain(token);
    expect(latchkey.output()).not.toContain("a%40example");
  });

  test("have the request line of a refused request", async () => {
    await send("PUT /asked/here?secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await latchkey.flushed();
    expect(latchkey.output()).toMatch(/^PUT \/asked\/here 405 /m);
  });

  const forge = async () => {
    await send(get("/x%0aGET%20/forged%20200%1b[31m"));
    await send(get("/__manifest?version=0&p=%2f%25E0%0aforged"));
    await send(post("/login", "email=%0aforged&password=%0d%0aforged"));
    await latchkey.flushed();
  };

  test("have no line that a request forges", { tags: "16.4.1" }, async () => {
    await forge();
    expect(latchkey.output()).not.toMatch(/^.*forged(?!%20200)/m);
  });

  test("have no terminal escape of a request", { tags: "16.4.1" }, async () => {
    await forge();
    expect(latchkey.output()).not.toContain("\u001b");
  });
});

answersOf(latchkey);

describe("connections", () => {
  const getAndKeep = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g);

  describe.each(["/login", "/auth/verify", "/healthz", "/favicon.svg"])("of pipelined requests for %s", (path) => {
    const pipelined = () => send(getAndKeep(path).repeat(16));

    test("the first alone is answered", async () => {
      const [first = ""] = statuses(await send(get(path))) ?? [];
      expect(statuses(await pipelined())).toEqual([first, "503"]);
    });

    test("the second closes the connection", async () => {
      expect(await pipelined()).toMatch(/HTTP\/1\.1 503 .*\r\nConnection: close\r\n/s);
    });
  });

  test("40 clients that each pipeline 2,250 requests in one go do not fill the memory", async () => {
    const clients = Array.from({ length: 40 }, () => net.connect(latchkey.port(), "localhost"));
    await Promise.all(clients.map((client) => once(client, "connect")));
    const closed = clients.map((client) => {
      client.on("error", () => {}).resume();
      client.write("GET / HTTP/1.1\r\nHost:a\r\n\r\n".repeat(2_250));
      return new Promise((resolve) => client.once("close", resolve));
    });
    await Promise.all(closed);
    expect((await latchkey.visit().get("/healthz")).status).toBe(200);
  });

  test("a request with Upgrade closes its connection", async () => {
    const upgrade = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    expect(await send(upgrade + getAndKeep("/readyz"))).toMatch(/\r\nConnection: close\r\n/i);
  });

  test("an idle connection is kept for 130 s", async () => {
    const { headers } = await fetch(new URL("/healthz", latchkey.url()));
    expect(headers.get("Keep-Alive")).toBe("timeout=130");
  });
});
