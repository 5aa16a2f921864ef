import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { documentedCommands } from "./documented-commands";

interface Bill {
  components: { name: string; version: string }[];
}

test("the bill of materials names every package that is installed for production", { tags: "15.1.2" }, () => {
  const production = inject("production");
  const commands = documentedCommands("bill of materials").replaceAll("/opt/latchkey", production);
  const { components }: Bill = JSON.parse(execFileSync("sh", ["-euc", commands], { encoding: "utf8" }));

  const { packages } = JSON.parse(readFileSync(`${production}/node_modules/.package-lock.json`, "utf8"));
  const installed = Object.entries<{ name?: string; version: string }>(packages).map(
    ([path, { name = path.split("node_modules/").at(-1), version }]) => `${name}@${version}`,
  );
  const named = components.map(({ name, version }) => `${name}@${version}`);
  expect(named.sort()).toEqual([...new Set(installed)].sort());
});
