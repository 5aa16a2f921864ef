import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: {
    alias: [{ find: /^#server\//, replacement: fileURLToPath(new URL("../../server/", import.meta.url)) }],
  },
  test: {
    include: ["tests/smoke/*.test.ts"],
    globalSetup: ["tests/smoke/build.ts"],
    setupFiles: ["tests/support/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
