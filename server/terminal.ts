import { AsyncLocalStorage } from "node:async_hooks";
import { readFile } from "node:fs/promises";
import type { Writable } from "node:stream";

/** Where a command prints and reads: this process's own, or that of the command line which asked the service. */
export interface Terminal {
  out: Writable & { isTTY?: boolean };
  err: Writable & { isTTY?: boolean };
  readFile(path: string): Promise<Uint8Array>;
}

const own: Terminal = { out: process.stdout, err: process.stderr, readFile: (path) => readFile(path) };

const asking = new AsyncLocalStorage<Terminal | undefined>();

/** Runs `work` for another process, whose terminal it uses. */
export const atTerminal = <T>(terminal: Terminal, work: () => Promise<T>): Promise<T> => asking.run(terminal, work);

export const withoutTerminal = <T>(work: () => T): T => asking.run(undefined, work);

/** The terminal of the process that asked; `undefined` for a command of this process's own. */
export const askingTerminal = (): Terminal | undefined => asking.getStore();

export const terminal = (): Terminal => askingTerminal() ?? own;
