// Coverage needs the source map of the server's build. Remix makes those of the browser's scripts too, which no build has.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

for (const name of readdirSync("public/build", { recursive: true, encoding: "utf8" })) {
  const file = join("public/build", name);
  if (name.endsWith(".map")) rmSync(file);
  else if (name.endsWith(".js"))
    writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n"));
}
