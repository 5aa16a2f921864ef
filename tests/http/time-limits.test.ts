import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { limitRequestTimes, timeLimits } from "#server/http/time-limits";

test("a head is limited to 20 seconds and a request to 30, including the checking interval", () => {
  expect(timeLimits.headersTimeout + timeLimits.connectionsCheckingInterval).toBeLessThan(20_000);
  expect(timeLimits.requestTimeout + timeLimits.connectionsCheckingInterval).toBeLessThan(30_000);
});

test("a server created after limitRequestTimes() answers slow requests 408, even the first server of the process", async () => {
  limitRequestTimes({ ...timeLimits, headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 10 });
  const server = createServer((request, response) => request.resume().once("end", () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sent = (bytes: string) =>
    new Promise<string>((resolve) => {
      let answer = "";
      const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.once("close", () => resolve(answer));
    });
  const head = "POST /login HTTP/1.1\r\nHost: localhost\r\n";
  expect(await sent(head)).toMatch(/^HTTP\/1\.1 408 /);
  expect(await sent(`${head}Content-Length: 10\r\n\r\na=b`)).toMatch(/^HTTP\/1\.1 408 /);
  await new Promise((resolve) => server.close(resolve));
});

test("a client that does not read its answer is disconnected", async () => {
  limitRequestTimes({ ...timeLimits, timeout: 100 });
  const server = createServer((_request, response) => response.end(Buffer.alloc(64 * 1_048_576)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connected = new Promise<net.Socket>((resolve) => server.once("connection", resolve));
  const client = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const socket = await connected;
  await once(socket, "close");
  expect(client.destroyed).toBe(false);
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
