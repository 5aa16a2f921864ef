/** Looks again and again, for what no event tells: resolves when the condition holds, rejects after `patience` ms. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what: string,
  patience = 30_000,
): Promise<void> {
  const deadline = performance.now() + patience;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${patience} ms: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
