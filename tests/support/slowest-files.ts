import type { Reporter, TestModule } from "vitest/node";

const listed = 10;

/** What a file takes, in seconds: its tests and hooks, and its imports. */
const secondsOf = (module: TestModule) => {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration) / 1000;
};

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const slowest = modules.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, listed);
    const lines = slowest.map((module) => `${secondsOf(module).toFixed(1).padStart(6)} s  ${module.relativeModuleId}`);
    process.stdout.write(`\nSlowest files:\n${lines.join("\n")}\n`);
  }
}
