import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Instruction {
  name: string;
  text: string;
}

/** The instructions of each stage of a Containerfile, without `FROM`. */
export async function readStages(path: string): Promise<Instruction[][]> {
  const file = (await readFile(path, "utf8")).replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, "");
  return file
    .split(/^FROM .*\n/m)
    .slice(1)
    .map((stage) =>
      stage
        .split("\n")
        .filter(Boolean)
        .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.replace(/^\S+\s+/, "") })),
    );
}

export const commandOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf("[")));

/** Copies what .dockerignore, a list of exceptions from `*`, lets into the image. */
export async function copyContext(to: string): Promise<void> {
  const lines = (await readFile(".dockerignore", "utf8")).split("\n").filter((line) => line && !line.startsWith("#"));
  const excluded = lines.filter((line) => !line.startsWith("!"));
  if (excluded[0] !== "*") throw new Error(".dockerignore does not start with *");
  for (const name of lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1))) {
    await cp(name, join(to, name), { recursive: true, filter: (path) => !excluded.includes(path) });
  }
}

/** Does a `COPY` whose last argument is a folder or a new name; `*` stands for a part of a file's name. */
export async function copy(text: string, from: string, to: string): Promise<void> {
  const names = text.split(" ").filter((word) => !word.startsWith("--"));
  const target = names.pop() ?? "";
  const sources = (await Promise.all(names.map((name) => expand(from, name)))).flat();
  for (const source of sources) {
    const intoFolder = target.endsWith("/");
    if (intoFolder) await mkdir(join(to, target), { recursive: true });
    const path = intoFolder ? join(to, target, source.slice(source.lastIndexOf("/") + 1)) : join(to, target);
    await cp(join(from, source), path, { recursive: true });
  }
}

async function expand(from: string, name: string): Promise<string[]> {
  if (!name.includes("*")) return [name];
  const [folder = "", ending = ""] = name.split("*");
  return (await readdir(join(from, folder))).filter((file) => file.endsWith(ending)).map((file) => `${folder}${file}`);
}
