import { defineConfig } from "knip/config";

export default defineConfig({
  entry: [
    "mikro-orm.config.ts",
    "server/{serve.js,processes.ts}",
    "demo/start.ts",
    "lint/*.ts",
    "app/entry.{client,server}.tsx",
    "app/routes/**/*.{ts,tsx}",
    "tests/**/*.{test,test-d}.{ts,tsx}",
    "bench/mutation/vitest.config.ts",
    "bench/{access-tokens,limit,provider}.ts",
    "bench/empty-build.js",
    "bench/mutation/{events-ignorer,survivors-reporter}.js",
    "bench/bare/remix.config.js",
    "bench/bare/app/{root,entry.server}.tsx",
    "bench/bare/app/routes/*.tsx",
  ],
  project: ["{app,server,bench,demo,lint,tests}/**/*.{ts,tsx,js,css}", "*.{ts,js}"],
  // Named as a transport in server/log.ts.
  ignoreDependencies: ["pino-pretty"],
  ignoreBinaries: ["Xvfb", "dbus-run-session", "java", "promtool", "script", "systemd-analyze", "testssl"], // of the system, in tests/
  compilers: {
    css: (text: string) => [...text.matchAll(/(?<=@)import[^;]+/g)].join("\n"),
  },
});
