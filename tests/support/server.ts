import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceFlags } from "./child-processes";
import { killSignal, recordedCoverage } from "./coverage/processes";
import { administer, databaseUrlOf } from "./postgres";
import { mailsIn, type SentMail } from "./printed-mails";

export type RunningProcess = ReturnType<typeof watchProcess>;

export interface RunningServer extends RunningProcess {
  url: string;
  port: number;
  databaseUrl: string;
  /** Resolves with the first mail that the `log` driver has printed to the address with this subject. */
  mail(to: string, subject: string): Promise<SentMail>;
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

let databases = 0;

export async function createEmptyDatabase(kind?: "embedded"): Promise<TestDatabase> {
  const url = process.env.DATABASE_URL;
  if (kind === "embedded" || !url || url.startsWith("pglite:")) {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-data-"));
    return { url: `pglite:${folder}`, drop: () => rm(folder, { recursive: true, force: true }) };
  }
  const name = `latchkey_server_${process.pid}_${databases++}`;
  await administer(url, `create database ${name}`);
  return {
    url: databaseUrlOf(url, name),
    drop: async () => void (await administer(url, `drop database ${name} with (force)`)),
  };
}

let nextPort = randomInt(2_000);

/**
 * A port that is free now, from a range of this worker's own. It is below the ports of outgoing connections (Linux: from
 * 32,768 on): one of those could be given to another program before the server listens.
 */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 10;
  const port = 12_000 + worker * 2_000 + (nextPort++ % 2_000);
  const probe = net.createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false)).listen(port, () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

export function watchProcess(child: ChildProcess) {
  let output = "";
  const printed = new EventEmitter().setMaxListeners(0);
  const collect = (chunk: string) => {
    output += chunk;
    printed.emit("output");
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", collect);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const failure = ended.then((status) => {
    throw new Error(`The process ended (${status}):\n${output}`);
  });
  failure.catch(() => {});
  /** Rejects when the process ends. */
  const nextOutput = async () => void (await Promise.race([once(printed, "output"), failure]));
  return {
    process: child,
    output: () => output,
    /** Resolves with the match when the output has it; rejects when the process ends without it. */
    async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const match = pattern.exec(output);
        if (match) return match;
        await nextOutput();
      }
    },
    nextOutput,
    ended,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    async kill() {
      child.kill(killSignal);
      await ended;
    },
  };
}

/** A shell's words that run a command with one pipe for both its outputs, so that what was printed last is read last. */
const withOnePipe = ["-c", 'exec "$0" "$@" 2>&1'];

/** @param folder where the built Latchkey is installed */
export async function spawnServer(
  settings: Record<string, string>,
  build = "build/index.js",
  folder = ".",
): Promise<RunningServer> {
  const port = Number(settings.PORT ?? (await freePort()));
  const child = spawn("sh", [...withOnePipe, process.execPath, ...serviceFlags(settings), "server/serve.js", build], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: "production", PORT: String(port), ...recordedCoverage, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const running = watchProcess(child);
  const mail: RunningServer["mail"] = async (to, subject) => {
    for (;;) {
      const found = mailsIn(running.output()).find((mail) => mail.to === to && mail.subject === subject);
      if (found) return found;
      await running.nextOutput();
    }
  };
  return { ...running, url: `http://localhost:${port}`, port, databaseUrl: settings.DATABASE_URL ?? "", mail };
}

export const remixServeListens = /\[remix-serve\] http/;

/** {@link spawnServer}, and waits until it listens. */
export async function startServer(...started: Parameters<typeof spawnServer>): Promise<RunningServer> {
  const server = await spawnServer(...started);
  await server.waitFor(remixServeListens);
  return server;
}

/** Starts the production build, which must exit with status 1; resolves with its whole output. */
export async function failedStart(settings: Record<string, string>): Promise<string> {
  const server = await spawnServer(settings);
  const status = await server.ended;
  if (status !== 1) throw new Error(`The process ended (${status}):\n${server.output()}`);
  return server.output();
}
