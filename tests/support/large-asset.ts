import { readdirSync } from "node:fs";

/** The path of a script of the build that is larger than what the sockets buffer. */
export function largeAsset(): string {
  const name = readdirSync("public/build/_shared").find((file) => /^password-strength\.client-\w+\.js$/.test(file));
  if (name === undefined) throw new Error("The build has no script of the password's strength.");
  return `/build/_shared/${name}`;
}
