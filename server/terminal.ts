import { readFile } from "node:fs/promises";
import { context, type Terminal } from "./context";

const own: Terminal = { out: process.stdout, err: process.stderr, readFile: (path) => readFile(path) };

/** The terminal of the process that asked; `undefined` for a command of this process's own. */
export function askingTerminal(): Terminal | undefined {
  const current = context.getStore();
  return current && "actor" in current ? current.terminal : undefined;
}

export const terminal = (): Terminal => askingTerminal() ?? own;

/** With `\uXXXX` for what a terminal does not show as is: controls, bidirectional overrides, invisible characters. */
export const printable = (text: string) =>
  text.replace(/(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
