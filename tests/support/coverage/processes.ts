import { fileURLToPath } from "node:url";

const folder = process.env.COVERAGE_FOLDER;

/** The settings with which a started process records its coverage; none while coverage is not measured. */
export const recordedCoverage: Record<string, string> = folder
  ? {
      COVERAGE_FOLDER: folder,
      NODE_OPTIONS: `--import "${fileURLToPath(new URL("record-process.js", import.meta.url))}"`,
    }
  : {};

export const killSignal = folder ? "SIGUSR2" : "SIGKILL";
