import { setTimeout } from "node:timers/promises";

const pause = 10; // ms: without it, the polls take a core from the processes that they wait for

/** Polls a condition that no event reports: resolves when it holds, rejects after `timeout` ms. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what: string,
  timeout = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${timeout} ms: ${what}`);
    await setTimeout(pause);
  }
}
