import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const analyze = (...command: string[]) =>
  execFileSync("systemd-analyze", [...command, "deploy/latchkey.service"], { encoding: "utf8", stdio: "pipe" });

test("systemd finds nothing wrong with the unit", () => {
  expect(analyze("verify", "--man=no")).toBe("");
});

test("systemd rates the exposure of the unit below 2.0", () => {
  const rating = /Overall exposure level for latchkey\.service: ([\d.]+)/.exec(analyze("security", "--offline=true"));
  expect(Number(rating?.[1])).toBeGreaterThan(0);
  expect(Number(rating?.[1])).toBeLessThan(2);
});

describe("as npm run serve does", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const served = scripts.serve.replace("exec ", ""); // the shell's word, so that npm's signals reach the service

  test("the unit starts the service", () => {
    const unit = readFileSync("deploy/latchkey.service", "utf8");
    expect(/^ExecStart=\/usr\/bin\/(.+)$/m.exec(unit)?.[1]).toBe(served);
  });

  test("the image starts the service", () => {
    const image = readFileSync("deploy/Containerfile", "utf8");
    expect(JSON.parse(/^CMD (.+)$/m.exec(image)?.[1] ?? "[]").join(" ")).toBe(served);
  });
});

test("deploy/latchkey runs a command as the unit runs the service", () => {
  const unit = readFileSync("deploy/latchkey.service", "utf8");
  const value = (name: string) => new RegExp(`^${name}=(.+)`, "m").exec(unit)?.[1] ?? "";
  const program = value("ExecStart").split(" ", 1);
  const words: string[] = readFileSync("deploy/latchkey", "utf8").match(/[^\s\\]+/g) ?? [];
  expect(words.slice(words.indexOf("exec"))).toEqual([
    ...["exec", "systemd-run", "--pipe", "--wait", "--collect", "--quiet"],
    `--uid=${value("User")}`,
    `--gid=${value("Group")}`,
    ...value("Environment")
      .split(" ")
      .map((variable) => `--setenv=${variable}`),
    `--property=UMask=${value("UMask")}`,
    `--property=WorkingDirectory="\${LATCHKEY_FOLDER:-${value("WorkingDirectory")}}"`,
    `--property=EnvironmentFile=${value("EnvironmentFile")}`,
    ...program,
    ...["server/cli.js", '"$@"'],
  ]);
});
