import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import net from "node:net";
import { expect, test } from "vitest";
import { sendBytes } from "../support/raw-http";
import { runLatchkey } from "../support/running-latchkey";
import { until } from "../support/until";

const latchkey = runLatchkey();
const smallHeap = runLatchkey({ NODE_OPTIONS: "--max-old-space-size=256" });

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const closing = (path: string) => get(path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g);

/** A script that is larger than what the sockets buffer. */
async function largeFile(): Promise<string> {
  const names = await readdir("public/build/_shared");
  return `/build/_shared/${names.find((name) => /^password-strength\.client-\w+\.js$/.test(name))}`;
}

/** What the process has open. */
async function openPaths(): Promise<string[]> {
  const folder = `/proc/${latchkey.pid()}/fd`;
  return Promise.all((await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => "")));
}

const openFiles = async (path: string) => (await openPaths()).filter((name) => name.endsWith(path)).length;
const openSockets = async () => (await openPaths()).filter((name) => name.startsWith("socket:")).length;

test("pipelined requests are answered in their order", async () => {
  const paths = ["/healthz", "/auth/verify", "/nowhere", "/login", "/readyz"];
  const answers = await sendBytes(latchkey.port(), paths.map(get).join("") + closing("/dashboard"));
  expect(statuses(answers)).toEqual(["200", "401", "404", "200", "200", "302"]);
});

test("of the files that a client asks for in one go and does not read one is open, and none after it has hung up", async () => {
  const file = await largeFile();
  const sockets = await openSockets();
  const clients = Array.from({ length: 5 }, () => net.connect(latchkey.port(), "localhost"));
  for (const client of clients) {
    client.pause().write(get(file).repeat(16));
    await once(client, "readable");
  }
  await until(async () => (await openFiles(file)) === clients.length, "one open file for each client");
  for (const client of clients) client.resetAndDestroy();
  await until(async () => (await openSockets()) <= sockets, "closed connections");
  await until(async () => (await openFiles(file)) === 0, "closed files");
});

test("a client that pipelines 16 requests gets every answer", async () => {
  const answers = await sendBytes(latchkey.port(), get("/healthz").repeat(15) + closing("/healthz"));
  expect(statuses(answers)).toEqual(Array(16).fill("200"));
});

test("the connection of a client that pipelines 17 requests is closed", async () => {
  const client = net.connect(latchkey.port(), "localhost");
  let answers = "";
  client.on("data", (chunk) => {
    answers += chunk;
  });
  client.on("error", () => {}); // the server resets the connection: it has not read all
  client.write(get("/login").repeat(17));
  await new Promise((resolve) => client.once("close", resolve));
  expect((answers.match(/HTTP/g) ?? []).length).toBeLessThan(16);
  expect((await latchkey.visit().get("/healthz")).status).toBe(200);
});

test.each([
  ["answered at once", "GET /auth/verify HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\n\\r\\nx"],
  ["answered by Node", "POST / HTTP/1.1\\r\\nHost: a\\r\\nExpect: x\\r\\nContent-Length: 1\\r\\n\\r\\nx"],
])("the connection of a client that pipelines 200 requests that are %s is closed", async (_what, request) => {
  const answers = await sendBytes(latchkey.port(), request.repeat(200));
  expect((answers.match(/HTTP/g) ?? []).length).toBeLessThan(17);
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
