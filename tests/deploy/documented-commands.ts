import { readFileSync } from "node:fs";

/** The commands in docs/operation.md or docs/commands.md below the comment `tested: NAME`, without the indentation of their list. */
export function documentedCommands(name: string): string {
  const page = ["docs/operation.md", "docs/commands.md"].map((path) => readFileSync(path, "utf8")).join("\n");
  const [, indentation = "", commands] =
    new RegExp(`^( *)<!-- tested: ${name} -->\\n\\n *\`\`\`sh\\n([\\s\\S]*?)^ *\`\`\`$`, "m").exec(page) ?? [];
  if (!commands) throw new Error(`The documents have no commands "${name}".`);
  return commands.replaceAll(new RegExp(`^${indentation}`, "gm"), "");
}
