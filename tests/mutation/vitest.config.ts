import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = new URL("../../", import.meta.url);

// Stryker runs tests in threads, in which start.test.ts cannot change the folder. The outcome of races.test.ts depends on
// time, so a mutant may survive it once and not again.
export default defineConfig({
  root: fileURLToPath(root),
  resolve: {
    alias: [
      { find: /^#server\//, replacement: fileURLToPath(new URL("server/", root)) },
      { find: /^~\//, replacement: fileURLToPath(new URL("app/", root)) },
    ],
  },
  test: {
    include: ["tests/{routes,jobs}/**/*.test.ts"],
    exclude: ["tests/routes/{start,races}.test.ts"],
    globalSetup: ["tests/support/template-database.ts"],
    setupFiles: ["tests/support/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
