import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
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
  const child = spawn(process.execPath, [resolve("server/cli.js"), ...words], {
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
export async function commandHere(
  words: string[],
  settings: Record<string, string> = {},
): Promise<Omit<Finished, "events">> {
  const { runCommand } = await import("#server/commands/command-line");
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    vi.spyOn(process[name], "write").mockImplementation((chunk) => {
      printed[name] += chunk;
      return true;
    });
  }
  const error = vi.spyOn(console, "error").mockImplementation((line) => void process.stderr.write(`${line}\n`));
  const { env } = process;
  process.env = { NODE_ENV: "production", ...settings };
  const status = await runCommand(words).finally(() => {
    process.env = env;
  });
  error.mockClear();
  return { status, ...printed };
}

export const succeeded = (stdout: string, ...events: Finished["events"]): Finished => ({
  status: 0,
  stdout,
  stderr: "",
  events,
});

export const failed = (stderr: string): Finished => ({ status: 1, stdout: "", stderr, events: [] });
