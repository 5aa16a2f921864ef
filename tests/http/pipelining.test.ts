import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import net from "node:net";
import { expect, test } from "vitest";
import { largeAsset } from "../support/large-asset";
import { sendBytes } from "../support/raw-http";
import { runLatchkey } from "../support/running-latchkey";
import { until } from "../support/until";

const latchkey = runLatchkey();
const smallHeap = runLatchkey({ NODE_OPTIONS: "--max-old-space-size=256" });

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const closing = (path: string) => get(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g);

/** How often the process has the file open. */
async function openFiles(path: string): Promise<number> {
  const folder = `/proc/${latchkey.pid()}/fd`;
  const paths = await Promise.all((await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => "")));
  return paths.filter((name) => name.endsWith(path)).length;
}

test("pipelined requests are answered in their order", async () => {
  const paths = ["/healthz", "/auth/verify", "/nowhere", "/login", "/readyz"];
  const answers = await sendBytes(latchkey.port(), paths.map(get).join("") + closing("/dashboard"));
  expect(statuses(answers)).toEqual(["200", "401", "404", "200", "200", "302"]);
});

test("of the files that a client asks for in one go and does not read one is open, and none after it has hung up", async () => {
  const file = largeAsset();
  const clients = Array.from({ length: 5 }, () => net.connect(latchkey.port(), "localhost"));
  for (const client of clients) {
    client.pause().write(get(file).repeat(16));
    await once(client, "readable");
  }
  await until(async () => (await openFiles(file)) === clients.length, "one open file for each client");
  for (const client of clients) client.resetAndDestroy();
  await until(async () => (await openFiles(file)) === 0, "closed files");
});

test("a client that pipelines 16 requests gets every answer", async () => {
  const answers = await sendBytes(latchkey.port(), get("/healthz").repeat(15) + closing("/healthz"));
  expect(statuses(answers)).toEqual(Array(16).fill("200"));
});

/** The statuses of the answers until the server closes the connection, or resets it: it has not read all. */
async function statusesUntilClosed(bytes: string): Promise<string[]> {
  const client = net.connect(latchkey.port(), "localhost").on("error", () => {});
  let answers = "";
  client.on("data", (chunk) => {
    answers += chunk;
  });
  client.write(bytes);
  await new Promise((resolve) => client.once("close", resolve));
  return statuses(answers) ?? [];
}

test("the connection of a client that pipelines 17 requests is closed", async () => {
  expect((await statusesUntilClosed(get("/login").repeat(17))).length).toBeLessThan(16);
  expect((await latchkey.visit().get("/healthz")).status).toBe(200);
});

test("after a request with Upgrade, whose packet Node does not read on, the connection is closed", async () => {
  const upgrade = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
  expect(await sendBytes(latchkey.port(), upgrade + get("/readyz"))).toMatch(/\r\nConnection: close\r\n/i);
});

const expecting = (more: string) => `POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n${more}Content-Length: 1\r\n\r\nx`;

test.each([
  ["answered at once", "401", get("/auth/verify"), closing("/auth/verify")],
  ["answered by Node", "417", expecting(""), expecting("Connection: close\r\n")],
])("the connection of a client that pipelines 200 requests that are %s is closed", async (_what, status, one, last) => {
  expect(await statusesUntilClosed(last)).toEqual([status]);
  const answered = await statusesUntilClosed(one.repeat(200));
  expect(answered.length).toBeLessThan(17);
  expect(answered.filter((other) => other !== status)).toEqual([]);
});

test("40 clients that each pipeline 2,250 requests in one go do not fill the memory", async () => {
  const clients = Array.from({ length: 40 }, () => net.connect(smallHeap.port(), "localhost"));
  await Promise.all(clients.map((client) => once(client, "connect")));
  const closed = clients.map((client) => {
    client.on("error", () => {});
    client.write("GET / HTTP/1.1\r\nHost:a\r\n\r\n".repeat(2_250));
    return new Promise((resolve) => client.once("close", resolve));
  });
  await Promise.all(closed);
  expect((await smallHeap.visit().get("/healthz")).status).toBe(200);
});
