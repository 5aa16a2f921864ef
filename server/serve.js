// remix-serve reads PORT before it loads the build, takes a random one when there is none, and knows no `.env`.
import { existsSync } from "node:fs";

if (existsSync(".env")) process.loadEnvFile(".env");
process.env.NODE_ENV ??= "production";
process.env.PORT ||= "3000";
process.argv[2] ??= "build/index.js";

await import("@remix-run/serve/dist/cli.js");
