import { defineConfig } from "vitest/config";
import { tags } from "../../lint/evidence/tags";
import { alias, onPostgres, root } from "../support/vitest-options.js";

// Stryker runs tests in threads, in which start.test.ts cannot change the folder. The outcome of races.test.ts depends on
// time, so a mutant may survive it once and not again. The contract tests of settings and mail drivers reach no mutant.
export default defineConfig({
  root,
  resolve: { alias },
  test: {
    tags,
    include: [
      "tests/{routes,jobs,contract}/**/*.test.ts",
      "tests/commands/user-lines.test.ts",
      ...(onPostgres ? ["tests/postgres/interleavings.test.ts"] : []),
    ],
    exclude: ["tests/routes/{start,races}.test.ts", "tests/contract/{configuration,dependencies,mail,smtp}.test.ts"],
    globalSetup: ["tests/support/template-database.ts"],
    setupFiles: ["tests/support/setup.ts", "tests/support/cheap-argon2.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
