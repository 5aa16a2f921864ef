import { execFile } from "node:child_process";
import { promisify } from "node:util";

export default async function setup() {
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, ["node_modules/@remix-run/dev/dist/cli.js", "build"], { env });
}
