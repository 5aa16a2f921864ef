import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "#server/accounts/passwords/password-hashing";
import { unknownVisitor } from "../support/accounts";

// The `overrides` of package.json, which have no effect if the lock file was generated without them.

function installed(importer: string, name: string): string {
  const paths = createRequire(join(importer, "package.json")).resolve.paths(name) ?? [];
  const folder = paths.map((path) => join(path, name)).find(existsSync);
  if (!folder) throw new Error(`${name} is not installed for ${importer}`);
  return folder;
}

const versionOf = (folder: string): string => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;

test.each([
  ["react-router", "6.30.6", ["@remix-run/react"]],
  ["react-router", "6.30.6", ["@remix-run/react", "react-router-dom"]],
  ["react-router-dom", "6.30.6", ["@remix-run/react"]],
  ["@remix-run/router", "1.23.4", ["@remix-run/react"]],
  ["@remix-run/router", "1.23.4", ["@remix-run/react", "react-router"]],
  ["@remix-run/router", "1.23.4", ["@remix-run/node", "@remix-run/server-runtime"]],
  ["@node-rs/argon2", "2.2.1", ["oslo"]],
])("%s is %s for %j", (name, version, importers) => {
  expect(versionOf([...importers, name].reduce(installed, process.cwd()))).toBe(version);
});

test("each package with an install script is allowed to run it: npm 11 warns of others", () => {
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const packages = Object.entries<{ hasInstallScript?: true; optional?: true }>(read("package-lock.json").packages);
  const scripted = packages.filter(([, { hasInstallScript, optional }]) => hasInstallScript && !optional);
  const names = new Set(scripted.map(([path]) => path.replace(/^.*node_modules\//, "")));
  expect([...names]).toEqual(Object.keys(read("package.json").allowScripts));
});

test("passwords are hashed by the native code of @node-rs/argon2 2.2.1 alone", async () => {
  await hashPassword(unknownVisitor, "correct horse battery staple");
  const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /argon2[^/\\]*\.node$/.test(file));
  expect(loaded.map((file) => versionOf(dirname(file)))).toEqual(["2.2.1"]);
});

test("a hash of @node-rs/argon2 1.7.0 still verifies", async () => {
  const stored = "$argon2id$v=19$m=19456,t=2,p=1$LLzZnXxTbLrXwV4Hv2+KQQ$ZGDccf3bZGRbg5oDRr5DfuQHVWPlyW0VP2reNNdEnWs";
  expect(await verifyPassword(unknownVisitor, "correct horse battery staple", { hash: stored, kinds: [] })).toBe(true);
  expect(await verifyPassword(unknownVisitor, "correct horse battery stapl", { hash: stored, kinds: [] })).toBe(false);
});
