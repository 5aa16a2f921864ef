import { defineConfig } from "vitest/config";
import { tags } from "../../lint/evidence/tags";
import { root } from "../support/vitest-options.js";

export default defineConfig({
  root,
  test: {
    tags,
    include: ["tests/deploy/**/*.test.ts"],
    provide: { programs: ["caddy", "chromium", "curl", "initdb", "nginx", "pgbouncer", "postfix", "systemd-analyze"] },
    globalSetup: [
      "tests/support/programs.ts",
      "tests/support/fresh-build.ts",
      "tests/deploy/production-dependencies.ts",
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
