import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { askService, openCommandSocket, readOperand } from "#server/commands/beside-service";
import { version } from "../../package.json";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-data-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

/** The files that this process sends when it asks a service. */
async function sentFiles(): Promise<unknown> {
  const server = net.createServer().listen(join(folder, ".commands"));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const asked = askService(folder, ["user", "list"]);
  const [socket] = await once(server, "connection");
  const { value: line } = await createInterface({ input: socket })[Symbol.asyncIterator]().next();
  socket.end('{"status":0}\n');
  await asked;
  return JSON.parse(line).files;
}

test("a service keeps no file that a command beside it has read", async () => {
  const files = { import: Buffer.from("a hash").toString("base64") };
  const read: string[] = [];
  const close = await openCommandSocket(folder, async ([path = ""]) => {
    read.push((await readOperand(path)).toString());
    return 0;
  });
  const socket = net.connect(join(folder, ".commands"));
  socket.write(`${JSON.stringify({ version, words: ["import"], files, isTTY: false })}\n`);
  await text(socket);
  close();
  expect(read).toEqual(["a hash"]);
  expect(await sentFiles()).not.toHaveProperty("import");
});
