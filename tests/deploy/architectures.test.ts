import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, { dev?: true; os?: string[] }>;
};
const binaries = Object.entries(packages)
  .filter(([path, { dev, os }]) => !dev && os?.includes("linux") && /x64-gnu$/.test(path))
  .map(([path]) => path);

test.each(binaries)("%s has a binary for arm64, too", (path) => {
  expect(packages).toHaveProperty([path.replace("x64", "arm64")]);
});

test("the lock file has the binaries of both hashes", () => {
  expect(binaries.map((path) => /argon2|bcrypt/.exec(path)?.[0])).toEqual(["argon2", "bcrypt"]);
});

test("the lock of the data folder has a binary for arm64", () => {
  expect(existsSync("node_modules/fs-native-extensions/prebuilds/linux-arm64/fs-native-extensions.node")).toBe(true);
});
