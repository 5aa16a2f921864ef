import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { tags } from "./lint/evidence/tags";
import { alias, onPostgres } from "./tests/support/vitest-options.js";

const template = "tests/support/template-database.ts";
const freshBuild = "tests/support/fresh-build.ts";

/** In ms. A test here starts processes, which takes seconds, and longer on a busy machine. */
const startsProcesses = { testTimeout: 120_000, hookTimeout: 120_000 };

const project = (
  name: string,
  folders: string[],
  options: TestProjectInlineConfiguration["test"] = {},
): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: folders.map((name) => `tests/${name}/**/*.test.{ts,tsx}`), ...options },
});

export default defineConfig({
  resolve: { alias },
  test: {
    tags,
    projects: [
      project("contract", ["contract"], {
        globalSetup: [template],
        typecheck: { enabled: true, include: ["tests/contract/*.test-d.ts"], tsconfig: "tests/contract/tsconfig.json" },
      }),
      project("pages", ["pages"]),
      project("routes", ["routes", "jobs", "properties"], {
        globalSetup: [template],
        setupFiles: ["tests/support/cheap-argon2.ts"],
      }),
      project("http", ["http"], { globalSetup: [freshBuild, template], ...startsProcesses }),
      project("commands", ["commands"], { globalSetup: [freshBuild, template], ...startsProcesses }),
      ...(onPostgres
        ? [project("postgres", ["postgres"], { globalSetup: [freshBuild, template], ...startsProcesses })]
        : []),
    ],
    setupFiles: ["tests/support/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    maxWorkers: Math.ceil(availableParallelism() * 1.5), // Some tests wait for a time limit.
    reporters: ["default", "./tests/support/slowest-files.ts"],
    // createRemixStub cannot set React Router's flag v7_startTransition, as Remix's own router does; each file warns of it.
    onConsoleLog: (log) => !log.includes("v7_startTransition"),
    coverage: {
      provider: "custom",
      customProviderModule: fileURLToPath(new URL("tests/coverage/provider.ts", import.meta.url)),
      include: ["app/**/*.{ts,tsx}", "server/**/*.ts"],
      exclude: ["app/entry.client.tsx", "server/database/migrations/**"],
      thresholds: { lines: 90 },
    },
  },
});
