import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { tags } from "./lint/evidence/tags.ts";
import { alias, liftoffOnly, onPostgres, startsProcesses } from "./tests/support/vitest-options.js";

const template = "tests/support/template-database.ts";
const cheapArgon2 = "tests/support/cheap-argon2.js";
const freshBuild = "tests/support/fresh-build.ts";

/**
 * A worker waits for the processes that it starts: with one more, the tests took 142 s in place of 151 on two cores.
 * Projects with another number of workers need another group.
 */
const waitsForProcesses: TestProjectInlineConfiguration["test"] = {
  ...startsProcesses,
  maxWorkers: availableParallelism() + 1,
  sequence: { groupOrder: 1 },
};

const project = (
  name: string,
  include: string[],
  options: TestProjectInlineConfiguration["test"] = {},
): TestProjectInlineConfiguration => ({ extends: true, test: { name, include, ...options } });

/** The tests that `npm test` runs, by what the suffix of their file says. Those of other programs: vitest.machine.config.ts. */
export default defineConfig({
  resolve: { alias },
  test: {
    tags,
    projects: [
      project("in-process", ["tests/**/*.test.ts"], {
        exclude: ["tests/**/*.{built,postgres,browser,machine,chromium}.test.ts"],
        globalSetup: [template],
        setupFiles: [cheapArgon2],
        typecheck: { enabled: true, include: ["tests/contract/*.test-d.ts"], tsconfig: "tests/contract/tsconfig.json" },
      }),
      // A project of its own: a worker ends when the next file has another environment, and a new one loads all modules.
      project("pages", ["tests/**/*.test.tsx"], {
        environment: "happy-dom",
        // The page of mails shows each mail in a frame, whose address no server answers.
        environmentOptions: { happyDOM: { settings: { navigation: { disableChildFrameNavigation: true } } } },
      }),
      project("built", ["tests/**/*.built.test.ts"], {
        globalSetup: [freshBuild, template],
        setupFiles: [cheapArgon2],
        env: { HASHES: "cheap" }, // of the services
        ...waitsForProcesses,
      }),
      ...(onPostgres
        ? [
            project("postgres", ["tests/**/*.postgres.test.ts"], {
              globalSetup: [freshBuild, template],
              ...waitsForProcesses,
            }),
          ]
        : []),
    ],
    setupFiles: ["tests/support/setup.ts"],
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    // In MiB. A heap that starts small is collected each time before it grows: 6 % of the CPU of the tests in process.
    execArgv: [...liftoffOnly, "--initial-heap-size=1500"],
    maxWorkers: availableParallelism(), // Each loads all modules.
    reporters: ["default", "./tests/support/slowest-files.ts"],
    // createRemixStub cannot set React Router's flag v7_startTransition, as Remix's own router does; each file warns of it.
    onConsoleLog: (log) => !log.includes("v7_startTransition"),
    coverage: {
      provider: "custom",
      customProviderModule: fileURLToPath(new URL("tests/support/coverage/provider.ts", import.meta.url)),
      include: ["app/**/*.{ts,tsx}", "server/**/*.ts"],
      exclude: ["app/entry.client.tsx", "server/database/migrations/**"],
      thresholds: { lines: 90 },
    },
  },
});
