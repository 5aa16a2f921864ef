import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import * as z from "zod";
import { version } from "../../package.json";
import { errorFields, log } from "../log";
import { askingTerminal, context, terminal } from "../process/context";
import type { Terminal } from "../process/terminal";
import { CommandError } from "./program";

const readFiles = new Map<string, Buffer>();

/** A command line keeps what it reads: the service cannot read the files of whoever runs the command. */
export async function readOperand(path: string): Promise<Buffer> {
  const content = await terminal().readFile(path);
  if (!askingTerminal()) readFiles.set(path, content);
  return content;
}

type Request = z.infer<typeof request>;

const answer = z.union([
  z.object({ out: z.string() }),
  z.object({ err: z.string() }),
  z.object({ bytes: z.base64() }), // for standard output
  z.object({ status: z.int() }),
]);

/**
 * Lets the service that holds the folder run the command.
 * @param take gets its output if it is bytes @returns its status; `null` when no service answers
 */
export async function askService(folder: string, words: string[], take?: (bytes: Buffer) => Promise<void>) {
  const path = socketIn(folder);
  if (path === null) return null;
  const socket = net.connect(path);
  try {
    await once(socket, "connect");
  } catch {
    return null;
  }
  const files = Object.fromEntries([...readFiles].map(([path, content]) => [path, content.toString("base64")]));
  const { out, err } = terminal();
  const asked: Request = { version, words, files, isTTY: err.isTTY === true };
  socket.write(`${JSON.stringify(asked)}\n`);
  try {
    for await (const line of createInterface({ input: socket })) {
      const part = answer.parse(JSON.parse(line));
      if ("status" in part) return part.status;
      if ("bytes" in part) {
        await take?.(Buffer.from(part.bytes, "base64"));
        continue;
      }
      const stream = "out" in part ? out : err;
      if (!stream.write("out" in part ? part.out : part.err)) await once(stream, "drain");
    }
  } catch {
    // What was read already is printed.
  }
  err.write("The service ended during the command, which may have done its work.\n");
  return 1;
}

/**
 * Takes commands for the service that holds `folder`. Without a socket, e.g. where the folder's path is too long for
 * one, commands say that the folder is in use. @returns a function that ends it
 */
export async function openCommandSocket(folder: string, run: (words: string[]) => Promise<number>) {
  const path = socketIn(folder);
  if (path === null) {
    log.warn("Commands cannot run beside the service: the path of its data folder is too long for a socket.");
    return () => {};
  }
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket, run).catch((error) => {
      if (!socket.destroyed) log.warn(errorFields(error), "A command for the service was not understood.");
      socket.destroy();
    });
  });
  try {
    await rm(path, { force: true }); // of a service that was killed: this one holds the folder's lock
    server.listen(path);
    await once(server, "listening");
    await chmod(path, 0o600);
  } catch (error) {
    log.warn(errorFields(error), "Commands cannot run beside the service: its data folder takes no socket.");
    server.close();
  }
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}

// The embedded database serves one process. A service that holds it runs the commands of the command line, which asks
// by a socket in the data folder: only the folder's owner, and root, can reach it.

const longestPath = 107; // bytes; unix(7)

/** `null` if the path is longer than that of a socket may be: Node would cut it. */
function socketIn(folder: string): string | null {
  const path = join(folder, ".commands");
  return Buffer.byteLength(path) > longestPath ? null : path;
}

/** A request is one line of JSON. The answer is lines of JSON, too: what the command prints, then its status. */
const request = z.object({
  version: z.string(),
  words: z.array(z.string()),
  /** What the command line has read, by path, in base64. */
  files: z.record(z.string(), z.string()),
  isTTY: z.boolean(),
});

type Answer = z.infer<typeof answer>;

async function serve(socket: net.Socket, run: (words: string[]) => Promise<number>): Promise<void> {
  const { value: line } = await createInterface({ input: socket })[Symbol.asyncIterator]().next();
  const asked = request.safeParse(JSON.parse(line)).data;
  const send = (part: Answer) => socket.write(`${JSON.stringify(part)}\n`);
  if (asked?.version !== version) {
    send({ err: `The service is of release ${version}: use its command line.\n` });
    send({ status: 1 });
  } else {
    const { words } = asked;
    const terminal = terminalOf(socket, asked);
    const status = await context.run({ actor: "cli", terminal }, () => run(words));
    for (const stream of [terminal.out, terminal.err]) await finished(stream.end());
    send({ status });
  }
  socket.end();
}

/** Ends when the command line has gone: what the command prints then is an error, which ends the command. */
function terminalOf(socket: net.Socket, { files, isTTY }: Request): Terminal {
  const send = (name: "out" | "err") => {
    const write = (chunk: string | Buffer, _encoding: string, done: (error?: Error | null) => void) => {
      const part = (typeof chunk === "string" ? { [name]: chunk } : { bytes: chunk.toString("base64") }) as Answer;
      socket.write(`${JSON.stringify(part)}\n`, (error) => {
        done(error && new CommandError("The command line has gone."));
      });
    };
    const stream = new Writable({ write, decodeStrings: false }).on("error", () => {});
    return Object.assign(stream, { isTTY });
  };
  return {
    out: send("out"),
    err: send("err"),
    readFile: async (path) => Buffer.from(files[path] ?? "", "base64"),
  };
}
