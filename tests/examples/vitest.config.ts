import { defineConfig } from "vitest/config";
import { root } from "../support/vitest-options.js";

export default defineConfig({
  root,
  test: {
    include: ["tests/examples/*.test.ts"],
    provide: { programs: ["caddy", "chromium", "nginx", "python3"] },
    globalSetup: ["tests/support/programs.ts", "tests/support/fresh-build.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
