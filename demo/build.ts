import { execSync } from "node:child_process";
import { staleness } from "../tests/support/fresh-build";

/** Builds Latchkey, unless nothing has changed since the last build. */
if (staleness() !== null) execSync("npm run build", { stdio: "inherit" });
