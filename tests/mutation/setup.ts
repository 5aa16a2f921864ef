import { inject } from "vitest";

// Stryker's state is global, and a kept thread still has that of the last run: its mutant must not be active while this
// run's modules are evaluated, and its coverage is not this run's.
const state = (globalThis as Record<string, unknown>)[inject("globalNamespace" as never)] as Record<string, unknown>;
if (inject("mutantActivation" as never) !== "static") delete state.activeMutant;
delete state.mutantCoverage;
