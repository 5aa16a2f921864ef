import { defineConfig } from "vitest/config";
import { tags } from "../../lint/evidence/tags";
import { alias, root } from "../support/vitest-options.js";

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    tags,
    include: ["tests/upgrade/*.test.ts"],
    provide: { programs: ["initdb", "nginx"] },
    globalSetup: ["tests/support/programs.ts", "tests/support/fresh-build.ts", "tests/upgrade/releases.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
