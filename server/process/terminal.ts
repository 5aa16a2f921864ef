import { readFile } from "node:fs/promises";
import type { Writable } from "node:stream";

/** Where a command prints and reads: this process's own, or that of the command line which asked the service. */
export interface Terminal {
  out: Writable & { isTTY?: boolean };
  err: Writable & { isTTY?: boolean };
  readFile(path: string): Promise<Buffer>;
}

export const ownTerminal: Terminal = { out: process.stdout, err: process.stderr, readFile: (path) => readFile(path) };

/** With `\uXXXX` for what a terminal does not show as is: controls, bidirectional overrides, invisible characters. */
export const printable = (text: string) =>
  text.replace(/(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
