// remix-serve reads PORT before it loads the build, takes a random one when there is none, and knows no `.env`.
import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

if (existsSync(".env")) process.loadEnvFile(".env");
process.env.NODE_ENV ??= "production";
process.env.PORT ||= "3000";
process.argv[2] ??= "build/index.js";

// Most of what a request makes dies with it. V8 would let the old part of the heap grow to several times what lives.
setFlagsFromString("--heap-growing-percent=50");

await import("@remix-run/serve/dist/cli.js");
