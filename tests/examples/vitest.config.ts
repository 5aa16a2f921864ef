import { defineConfig } from "vitest/config";
import { tags } from "../../lint/evidence/tags";
import { alias, root } from "../support/vitest-options.js";

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    tags,
    include: ["tests/examples/*.test.ts"],
    provide: { programs: ["caddy", "chromium", "dist-packages/jwt", "nginx", "python3"] },
    globalSetup: ["tests/support/programs.ts", "tests/support/fresh-build.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
