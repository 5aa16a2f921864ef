declare module "@bcoe/v8-coverage" {
  import type { Profiler } from "node:inspector";

  interface ProcessCoverage {
    result: Profiler.ScriptCoverage[];
  }
  export function mergeProcessCovs(coverages: readonly ProcessCoverage[]): ProcessCoverage;
}
