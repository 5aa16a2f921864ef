// remix-serve reads PORT before it loads the build, takes a random port without it, and does not read `.env`.
import "./environment.js";
import cluster from "node:cluster";
import { setFlagsFromString } from "node:v8";

process.env.PORT ||= "3000";
process.argv[2] ??= "build/index.js";

// Most objects live as long as one request. Without this, V8 lets the heap grow to several times the live size (measured).
// The size of the young generation is a flag of the command line, in `npm run serve`: V8 reads it before any script.
setFlagsFromString("--heap-growing-percent=50");

const several = !["", "1"].includes(process.env.PROCESSES ?? "");

await import(several && cluster.isPrimary ? "../build/processes.js" : "@remix-run/serve/dist/cli.js");
