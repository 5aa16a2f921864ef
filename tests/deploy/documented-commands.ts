import { readFileSync } from "node:fs";

/** The commands in docs/operation.md below the comment `tested: NAME`, without the indentation of their list. */
export function documentedCommands(name: string): string {
  const page = readFileSync("docs/operation.md", "utf8");
  const [, indentation = "", commands] =
    new RegExp(`^( *)<!-- tested: ${name} -->\\n\\n *\`\`\`sh\\n([\\s\\S]*?)^ *\`\`\`$`, "m").exec(page) ?? [];
  if (!commands) throw new Error(`docs/operation.md has no commands "${name}".`);
  return commands.replaceAll(new RegExp(`^${indentation}`, "gm"), "");
}
