import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { listen } from "../support/listen";
import { exchange } from "../support/raw-http";
import {
  type Example,
  onOneHost,
  type ProxyName,
  register,
  type StartApplication,
  startExample,
  withPrograms,
} from "./example";

const run = promisify(execFile);

/** RFC 6455, section 1.3. */
const acceptOf = (key: string) =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

/** Runs git's own CGI program for the requests of a git client. */
function answerGit(request: IncomingMessage, response: ServerResponse, folder: string): void {
  const { pathname, search } = new URL(request.url ?? "", "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: request.headers["remote-user"]?.toString(),
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname.replace("/programs/git", ""),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: request.headers["git-protocol"]?.toString() ?? "",
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk) => chunks.push(chunk));
  backend.stdout.on("end", () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf("\r\n\r\n");
    const lines = output.subarray(0, end).toString().split("\r\n");
    const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
    const status = headers.find(([name]) => name === "Status")?.[1];
    response.writeHead(Number.parseInt(status ?? "200", 10), Object.fromEntries(headers));
    response.end(output.subarray(end + 4));
  });
}

/** An application with git repositories and a websocket, which says what headers it has got. */
const startBehind =
  (folder: string): StartApplication =>
  async (port) => {
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/programs/git/")) return answerGit(request, response, folder);
      response.end(JSON.stringify(request.rawHeaders));
    });
    server.on("upgrade", (request, socket) => {
      socket.resume().on("end", () => socket.end());
      const accept = acceptOf(request.headers["sec-websocket-key"] ?? "");
      const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
      socket.write(`${["HTTP/1.1 101 Switching Protocols", ...lines].join("\r\n")}\r\n\r\n`);
      const hello = Buffer.from(`${request.headers["remote-email"]} ${request.headers.authorization}`);
      socket.write(Buffer.concat([Buffer.from([0x81, hello.length]), hello]));
    });
    return listen(server, port);
  };

describe.each<ProxyName>(["nginx", "caddy"])("programs behind %s", (proxy) => {
  let example: Example;
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  let token: string;
  let another: string;
  let cookie: string;

  beforeAll(async () => {
    place = await temporaryFolder();
    await run("git", ["init", "--bare", "--initial-branch=main", `${place.folder}/notes.git`]);
    await run("git", ["-C", `${place.folder}/notes.git`, "config", "http.receivepack", "true"]);
    const { configuration, settings, ...others } = await onOneHost(proxy);
    const changed = withPrograms(configuration);
    expect(changed).not.toBe(configuration);
    const on = { ...settings, ACCESS_TOKENS: "on", RETURN_ORIGINS: "https://other.example" };
    example = await startExample({ ...others, configuration: changed, settings: on }, startBehind(place.folder));
    ({ cookie } = await register(example, "build@example.com"));
    token = await createToken(example.url);
    another = await createToken("https://other.example");
  });

  afterAll(async () => {
    await example.stop();
    await place.remove();
  });

  async function createToken(origin: string): Promise<string> {
    const { stdout } = await example.command(
      "user",
      "create-token",
      "build@example.com",
      "--name",
      "Build",
      "--origin",
      origin,
    );
    return stdout.trim();
  }

  /** The status and the body of the answer. */
  async function curl(...words: string[]) {
    const { stdout } = await run("curl", ["-sS", "-w", "\n%{http_code}", ...words]);
    const [, body = "", status] = /^(.*)\n(\d+)$/s.exec(stdout) ?? [];
    return { status: Number(status), body };
  }

  const programs = () => `${example.url}/programs/feed`;

  test("curl comes in with a bearer and with a password", async () => {
    for (const words of [
      ["-H", `Authorization: Bearer ${token}`],
      ["-u", `anybody:${token}`],
      ["-H", `X-Latchkey-Token: ${token}`],
    ]) {
      const { status, body } = await curl(...words, programs());
      expect(status).toBe(200);
      expect(body).toContain("build@example.com");
    }
  });

  test("the application gets no token, whatever case or spacing the header has", async () => {
    const { host, port } = new URL(example.url);
    const basic = Buffer.from(`ada:${token}`).toString("base64");
    for (const line of [
      `Authorization: Bearer ${token}`,
      `aUtHoRiZaTiOn: bEARER ${token}`,
      `AUTHORIZATION:bearer    ${token}   `,
      `authorization: BASIC ${basic}`,
      `X-LATCHKEY-TOKEN:   ${token}`,
      `x-latchkey-token:${token}`,
    ]) {
      const lines = ["GET /programs/feed HTTP/1.1", `Host: ${host}`, line, "Connection: close"];
      const { status, body } = await exchange(Number(port), lines);
      expect([line, status]).toEqual([line, 200]);
      expect(body).toContain("build@example.com");
      expect(body).not.toContain(token);
      expect(body).not.toContain(basic);
      expect(body).not.toMatch(/authorization|latchkey-token/i);
    }
  });

  test("the application keeps an Authorization of its own elsewhere", async () => {
    const { body } = await curl("-H", `Cookie: ${cookie}`, "-H", "Authorization: Bearer own", `${example.url}/notes`);
    expect(body).toContain("Bearer own");
  });

  test("an unknown token and one of another application get 401, not the login page", async () => {
    for (const sent of [`latchkey_${"A".repeat(43)}`, another]) {
      const { status, body } = await curl(
        "-i",
        "-H",
        `Authorization: Bearer ${sent}`,
        "-H",
        "Accept: text/html",
        programs(),
      );
      expect(status).toBe(401);
      expect(body).toMatch(
        /^www-authenticate: Basic realm="localhost:\d+", charset="UTF-8", Bearer error="invalid_token"\r$/im,
      );
      expect(body).not.toMatch(/^location:/im);
    }
  });

  test("a token counts at no other path", async () => {
    for (const path of ["/notes", "/programs", "/dashboard", "/auth/session", "/auth/verify"]) {
      expect((await curl("-H", `Authorization: Bearer ${token}`, example.url + path)).status).not.toBe(200);
    }
  });

  test("a person's browser comes in with its session, and is led to the login page without", async () => {
    expect((await curl("-H", `Cookie: ${cookie}`, programs())).status).toBe(200);
    const navigation = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Mode: navigate", "-H", "Sec-Fetch-Dest: document"];
    const { status, body } = await curl("-i", ...navigation, programs());
    expect(status).toBe(302);
    expect(body).toMatch(/^location: .*\/login\?return_to=.*programs%2Ffeed\r$/im);
  });

  test("git clones, pushes and fetches with a password", async () => {
    const url = `${example.url}/programs/git/notes.git`.replace("//", `//build:${token}@`);
    const git = (...words: string[]) =>
      run("git", ["-c", "user.name=Build", "-c", "user.email=build@example.com", ...words], {
        cwd: place.folder,
        env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
      });
    await git("clone", url, "one");
    await git("-C", "one", "commit", "--allow-empty", "-m", "First");
    await git("-C", "one", "push", "origin", "HEAD:main");
    await git("clone", "-b", "main", url, "two");
    expect((await git("-C", "two", "log", "--format=%s")).stdout).toBe("First\n");
    await expect(git("clone", url.replace(token, another), "three")).rejects.toThrow(/Authentication failed|401/);
    await expect(git("clone", url.replace(/build:[^@]*@/, ""), "four")).rejects.toThrow(/could not read Username/);
  });

  test("a program opens a websocket", async () => {
    const key = randomBytes(16).toString("base64");
    const handshake = {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
    };
    /** The text of the first frame. */
    const open = (headers: Record<string, string>) =>
      new Promise<string>((resolve, reject) => {
        const sent = get(`${example.url}/programs/socket`, { headers: { ...handshake, ...headers }, agent: false });
        sent.on("response", ({ statusCode }) => reject(new Error(`refused: ${statusCode}`)));
        sent.on("upgrade", (answer, socket, head) => {
          expect(answer.headers["sec-websocket-accept"]).toBe(acceptOf(key));
          const read = (frame: Buffer) => {
            socket.destroy();
            resolve(frame.subarray(2).toString());
          };
          if (head.length > 0) read(head);
          else socket.once("data", read);
        });
      });
    expect(await open({ Authorization: `Bearer ${token}` })).toBe("build@example.com undefined");
    await expect(open({ Authorization: `Bearer ${another}` })).rejects.toThrow("refused: 401");
    await expect(open({})).rejects.toThrow("refused: 401");
  });
});
