import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: {
    alias: [{ find: /^#server\//, replacement: fileURLToPath(new URL("../../server/", import.meta.url)) }],
  },
  test: {
    include: ["tests/faults/*.test.ts"],
    globalSetup: ["tests/support/fresh-build.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
