import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Two transactions at once need two connections, and the embedded database is one. */
const onPostgres = /^postgres/.test(process.env.DATABASE_URL ?? "");

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^#server\//, replacement: folder("server/") },
      { find: /^~\//, replacement: folder("app/") },
    ],
  },
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    exclude: ["tests/browser/**", "tests/faults/**", ...(onPostgres ? [] : ["tests/postgres/**"])],
    typecheck: { enabled: true, include: ["tests/contract/*.test-d.ts"], tsconfig: "tests/contract/tsconfig.json" },
    globalSetup: ["tests/support/template-database.ts"],
    setupFiles: ["tests/support/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    maxWorkers: 2,
    coverage: {
      include: ["app/**/*.{ts,tsx}", "server/**/*.ts"],
      exclude: ["app/entry.client.tsx", "server/migrations/**"],
      thresholds: { lines: 90 },
    },
  },
});
