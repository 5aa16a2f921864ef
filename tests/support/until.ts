/** Polls a condition that no event reports: resolves when it holds, rejects after `timeout` ms. */
export async function until(condition: () => Promise<boolean> | boolean, what: string, timeout = 30_000) {
  const deadline = performance.now() + timeout;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${timeout} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5)); // Without a pause, it takes the CPU from what it waits for.
  }
}
