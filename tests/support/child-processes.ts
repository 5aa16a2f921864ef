import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { liftoffOnly } from "./vitest-options.js";

/** Of the processes that tests start. Measuring programs start what is in production. */
export const nodeFlags = process.env.VITEST ? liftoffOnly : [];

const cheapHashes = ["--import", fileURLToPath(new URL("cheap-argon2.js", import.meta.url))];

/** {@link nodeFlags} of a service. With `HASHES: "real"`, where Argon2 is the subject, it takes its own time. */
export const serviceFlags = ({ HASHES = process.env.HASHES }: Record<string, string>) =>
  HASHES === "cheap" ? [...nodeFlags, ...cheapHashes] : nodeFlags;

/** @returns whether the process is there */
export function signal(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid as number, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

/** The ids of the processes that this process has started and that have not ended. Linux has them in /proc. */
export function childrenOf(pid: number | undefined): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}
