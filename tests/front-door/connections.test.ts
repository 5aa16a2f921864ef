import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import net from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { takeRequests, timeLimits } from "#server/door/connections";
import { listen } from "../support/listen";
import { sendBytes } from "../support/raw-http";
import { until } from "../support/until";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g);

test.each([
  ["head", timeLimits.headersTimeout, 20_000],
  ["request", timeLimits.requestTimeout, 30_000],
])("a %s is limited to less than %i + the checking interval = %i ms", (_what, limit, most) => {
  expect(limit + timeLimits.connectionsCheckingInterval).toBeLessThan(most);
});

async function takenServer(limits: Partial<typeof timeLimits>, listener: RequestListener) {
  const { close } = takeRequests((_request, _response, pass) => pass(), { ...timeLimits, ...limits });
  const server = createServer(listener);
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  return { server, close, port };
}

const head = "POST /login HTTP/1.1\r\nHost: localhost\r\n";

test.each([
  ["head", head],
  ["body", `${head}Content-Length: 10\r\n\r\na=b`],
])("a slow %s is answered 408 by the first server of the process", async (_what, bytes) => {
  const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 10 };
  const { port } = await takenServer(limits, (request, response) => request.resume().once("end", () => response.end()));
  expect(statuses(await sendBytes(port, bytes))).toEqual(["408"]);
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

test("an idle connection outlives the limit within a request", async () => {
  const { port } = await takenServer({ timeout: 50, keepAliveTimeout: 500 }, (_request, response) => response.end());
  const client = net.connect(port, "127.0.0.1");
  client.write(get("/"));
  await once(client, "data");
  const answered = performance.now();
  await once(client.resume(), "close");
  expect(performance.now() - answered).toBeGreaterThan(450);
});

/** A server that answers /large at once, and everything else when the test ends its response. */
async function closableServer() {
  const begun: ServerResponse[] = [];
  const { close, port } = await takenServer({}, (request, response) => {
    begun.push(response);
    if (request.url === "/large") response.end(Buffer.alloc(64 * 1_048_576));
  });
  const untilBegun = async (count: number) => {
    await until(() => begun.length === count, "the requests");
    return begun;
  };
  const connect = (bytes: string) => {
    const client = net.connect(port, "127.0.0.1").on("error", () => {});
    client.write(bytes);
    onTestFinished(() => void client.destroy());
  };
  return { close, port, untilBegun, connect };
}

const slowReader = get("/large");
const slowSender = "POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";

/** Closes, and lets pass the time that clients have to send their requests and to read their answers. */
function closeAfterLimit(close: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = close();
  vi.advanceTimersByTime(5_000);
  return closed;
}

test("closing waits for the answer that is computed beside slow clients", async () => {
  const { close, port, untilBegun, connect } = await closableServer();
  for (const bytes of [slowReader, slowSender]) connect(bytes);
  await untilBegun(2);
  const computed = sendBytes(port, get("/computed"));
  const begun = await untilBegun(3);
  const disconnected = begun.slice(0, 2).map((response) => once(response, "close"));
  const closed = closeAfterLimit(close);
  await Promise.all(disconnected);
  begun.at(-1)?.end("computed");
  expect(await computed).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n.*computed$/s);
  await closed;
});

test("closing waits for no idle connection", async () => {
  const { close, untilBegun, connect } = await closableServer();
  connect(get("/idle"));
  const [response] = await untilBegun(1);
  const answered = once(response!, "close");
  response?.end();
  await answered;
  await close();
});

test.each([
  ["does not read its answer", slowReader],
  ["does not send its request", slowSender],
])("closing disconnects a client that %s", async (_what, bytes) => {
  const { close, untilBegun, connect } = await closableServer();
  connect(bytes);
  const [response] = await untilBegun(1);
  const disconnected = once(response!, "close");
  await closeAfterLimit(close);
  await disconnected;
});
