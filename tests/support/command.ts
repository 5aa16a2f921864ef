import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Environment } from "#server/config";
import { nodeFlags } from "./child-processes";
import { recordedCoverage } from "./coverage/processes";

export interface Finished {
  status: number | null;
  stdout: string;
  /** Without the log's lines. */
  stderr: string;
  events: { event: string; actor?: string; userId?: string; reason?: string; count?: number }[];
}

const isLogged = (line: string) => line.startsWith("{");

export async function latchkey(
  words: string[],
  settings: Record<string, string> = {},
  folder = process.cwd(),
): Promise<Finished> {
  const child = spawn(process.execPath, [...nodeFlags, resolve("server/cli.js"), ...words], {
    cwd: folder,
    env: { NODE_ENV: "production", PATH: process.env.PATH, ...recordedCoverage, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const lines = stderr.split(/(?<=\n)/);
  const events = lines
    .filter(isLogged)
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event)
    .map(({ level, time, ...event }) => event);
  return { status, stdout, stderr: lines.filter((line) => !isLogged(line)).join(""), events };
}

/** {@link latchkey} in this process, which takes half a second less. What the command logs is not read. */
export async function commandHere(words: string[], settings: Environment = {}): Promise<Omit<Finished, "events">> {
  const { runCommand } = await import("#server/commands/command-line");
  const printed = { stdout: "", stderr: "" };
  const into = (name: keyof typeof printed) => (chunk: string | Uint8Array) => {
    printed[name] += chunk;
    return true;
  };
  const { env, stdout, stderr } = process;
  const [writeOut, writeError, { error }] = [stdout.write, stderr.write, console];
  process.env = { NODE_ENV: "production", ...settings };
  stdout.write = into("stdout");
  stderr.write = into("stderr");
  console.error = (line) => void stderr.write(`${line}\n`);
  try {
    return { status: await runCommand(words), ...printed };
  } finally {
    process.env = env;
    stdout.write = writeOut;
    stderr.write = writeError;
    console.error = error;
  }
}

export const succeeded = (stdout: string, ...events: Finished["events"]): Finished => ({
  status: 0,
  stdout,
  stderr: "",
  events,
});

export const failed = (stderr: string): Finished => ({ status: 1, stdout: "", stderr, events: [] });
