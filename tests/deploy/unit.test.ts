import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

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
