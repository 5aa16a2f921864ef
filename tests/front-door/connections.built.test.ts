import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { takeRequests, timeLimits } from "#server/door/connections";
import { listen } from "../support/listen";
import { sendBytes } from "../support/raw-http";
import { runLatchkey } from "../support/running-latchkey";
import { until } from "../support/until";

const latchkey = runLatchkey({ NODE_OPTIONS: "--max-old-space-size=256" });

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g);

test.each(["/login", "/auth/verify", "/healthz", "/favicon.svg"])(
  "of pipelined requests for %s the first is answered, the second refused, and the connection closed",
  async (path) => {
    const [first = ""] =
      statuses(await sendBytes(latchkey.port(), get(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))) ?? [];
    const answers = await sendBytes(latchkey.port(), get(path).repeat(16));
    expect(statuses(answers)).toEqual([first, "503"]);
    expect(answers).toMatch(/HTTP\/1\.1 503 .*\r\nConnection: close\r\n/s);
  },
);

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

test("after a request with Upgrade, whose packet Node does not read on, the connection is closed", async () => {
  const upgrade = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
  expect(await sendBytes(latchkey.port(), upgrade + get("/readyz"))).toMatch(/\r\nConnection: close\r\n/i);
});

test("a head is limited to 20 seconds and a request to 30, including the checking interval", () => {
  expect(timeLimits.headersTimeout + timeLimits.connectionsCheckingInterval).toBeLessThan(20_000);
  expect(timeLimits.requestTimeout + timeLimits.connectionsCheckingInterval).toBeLessThan(30_000);
});

async function takenServer(limits: Partial<typeof timeLimits>, listener: RequestListener) {
  const { close } = takeRequests((_request, _response, pass) => pass(), { ...timeLimits, ...limits });
  const server = createServer(listener);
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  return { server, close, port };
}

test("slow requests are answered 408, even by the first server of the process", async () => {
  const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 10 };
  const { port } = await takenServer(limits, (request, response) => request.resume().once("end", () => response.end()));
  const head = "POST /login HTTP/1.1\r\nHost: localhost\r\n";
  for (const bytes of [head, `${head}Content-Length: 10\r\n\r\na=b`]) {
    expect(statuses(await sendBytes(port, bytes))).toEqual(["408"]);
  }
});

test("a client that does not read its answer is disconnected", async () => {
  const { server, port } = await takenServer({ timeout: 100 }, (_request, response) =>
    response.end(Buffer.alloc(64 * 1_048_576)),
  );
  const connected = once(server, "connection");
  const client = net.connect(port, "127.0.0.1");
  client.write(get("/"));
  const [socket] = await connected;
  await once(socket, "close");
  expect(client.destroyed).toBe(false);
  client.destroy();
});

test("closing waits for the answer that is computed, and disconnects who does not send or read the rest", async () => {
  const begun: ServerResponse[] = [];
  const { close, port } = await takenServer({}, (request, response) => {
    begun.push(response);
    if (request.url === "/large") response.end(Buffer.alloc(64 * 1_048_576));
  });
  const slow = [get("/large"), "POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"].map((bytes) => {
    const client = net.connect(port, "127.0.0.1").on("error", () => {});
    client.write(bytes);
    return client;
  });
  await until(() => begun.length === 2, "the slow clients' requests");
  const disconnected = begun.map((response) => once(response, "close"));
  const computed = sendBytes(port, get("/computed"));
  await until(() => begun.length === 3, "the third request");
  const closed = close();
  await Promise.all(disconnected);
  begun.at(-1)?.end("computed");
  expect(await computed).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n.*computed$/s);
  await closed;
  for (const client of slow) client.destroy();
});
