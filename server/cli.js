// For `npm run latchkey -- COMMAND`, and where only production dependencies are installed.
import { existsSync } from "node:fs";
import "./environment.js";

const build = new URL("../build/cli.js", import.meta.url);
if (existsSync(build)) {
  await import(build.href);
} else {
  console.error("There is no build: `npm run build` makes it.");
  process.exitCode = 1;
}
