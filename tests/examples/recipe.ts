import { readFile } from "node:fs/promises";

/** The blocks of a recipe, by their language. */
export async function recipeOf(application: string): Promise<Record<string, string>> {
  const text = await readFile("docs/recipes.md", "utf8");
  const [, section = ""] = new RegExp(`\n## ${application}\n([\\s\\S]*?)(?=\n## )`).exec(text) ?? [];
  const blocks = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  return Object.fromEntries(blocks.map(([, language, block]) => [language, block]));
}

/** The configuration of a proxy with the lines of a recipe, where the recipe says. */
export function withRecipe(configuration: string, recipe: Record<string, string>): string {
  const everythingElse = /\n\t\t\tforward_auth 127\.0\.0\.1:3000 \{[\s\S]*?\n\t\t\t\}\n/;
  return configuration
    .replace('set $groups "";', () => recipe.nginx ?? "")
    .replace(everythingElse, () => `\n${recipe.caddy}\n`);
}
