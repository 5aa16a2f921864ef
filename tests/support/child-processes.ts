import { readFileSync } from "node:fs";

/** The ids of the processes that this process has started and that have not ended. Linux has them in /proc. */
export function childrenOf(pid: number | undefined): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}
