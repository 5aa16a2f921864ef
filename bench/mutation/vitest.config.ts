import { defineConfig } from "vitest/config";
import { tags } from "../../lint/evidence/tags.ts";
import { alias, onPostgres, root } from "../../tests/support/vitest-options.js";

// Stryker runs tests in threads, in which those of a start and of a database in a folder cannot change the folder or the
// umask. The outcome of races.test.ts depends on time, so a mutant may survive it once and not again. The contract tests
// of settings and mail drivers reach no mutant.
export default defineConfig({
  root,
  resolve: { alias },
  test: {
    tags,
    include: ["tests/**/*.test.ts"],
    exclude: [
      "tests/**/*.{built,browser,chromium,machine}.test.ts",
      onPostgres ? "tests/**/!(interleavings).postgres.test.ts" : "tests/**/*.postgres.test.ts",
      "tests/configuration/{start,start-failures}.test.ts",
      "tests/commands/{command-line,doctor-embedded}.test.ts",
      "tests/database/{flushes,start-limits,upkeep}.test.ts",
      "tests/{branding/contrast,front-door/properties,passkeys/malformed-answers,reset/races}.test.ts",
      "tests/contract/{configuration,dependencies,mail,smtp}.test.ts",
    ],
    globalSetup: ["tests/support/template-database.ts"],
    setupFiles: ["tests/support/setup.ts", "tests/support/cheap-argon2.js"],
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
