import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Builds with the Node that runs the tests. */
export default async function setup() {
  await promisify(execFile)(process.execPath, ["node_modules/@remix-run/dev/dist/cli.js", "build"]);
}
