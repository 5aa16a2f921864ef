import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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

/** Does a `COPY` of what .dockerignore lets into the image: a folder or a new name is last, `*` a part of a file's name. */
export async function copy(text: string, to: string): Promise<void> {
  const allowed = (await readFile(".dockerignore", "utf8")).match(/(?<=^!).+/gm) ?? [];
  const names = text.split(" ").filter((word) => !word.startsWith("--"));
  const target = names.pop() ?? "";
  for (const name of names) {
    const fromContext = !text.startsWith("--from=");
    if (fromContext && !allowed.some((path) => name.startsWith(path))) throw new Error(`.dockerignore has no !${name}`);
    for (const source of await expand(name)) {
      const path = target.endsWith("/") ? join(to, target, basename(source)) : join(to, target);
      await mkdir(dirname(path), { recursive: true });
      await cp(source, path, { recursive: true });
    }
  }
}

async function expand(name: string): Promise<string[]> {
  if (!name.includes("*")) return [name];
  const [folder = "", ending = ""] = name.split("*");
  return (await readdir(folder)).filter((file) => file.endsWith(ending)).map((file) => `${folder}${file}`);
}
