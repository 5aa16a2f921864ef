import { defineConfig } from "vitest/config";
import { alias, root } from "../support/vitest-options.js";

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    include: ["tests/smoke/*.test.ts"],
    globalSetup: ["tests/smoke/build.ts"],
    fileParallelism: false,
    setupFiles: ["tests/support/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
