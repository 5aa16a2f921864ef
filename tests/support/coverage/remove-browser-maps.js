// Coverage needs the source map of build/index.js. The option that writes it, `remix build --sourcemap`, also writes a map
// for each script of the browser. `npm run build` writes none, and tests/document/bundle.built.test.ts requires that.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

for (const name of readdirSync("public/build", { recursive: true, encoding: "utf8" })) {
  const file = join("public/build", name);
  if (name.endsWith(".map")) rmSync(file);
  else if (name.endsWith(".js"))
    writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n"));
}
