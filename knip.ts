import { defineConfig } from "knip/config";

export default defineConfig({
  entry: [
    "mikro-orm.config.ts",
    "server/processes.ts",
    "lint/*.ts",
    "app/entry.{client,server}.tsx",
    "app/routes/**/*.{ts,tsx}",
    "tests/**/*.{test,test-d}.{ts,tsx}",
    "bench/mutation/vitest.config.ts",
    "bench/{limit,provider}.ts",
    "bench/empty-build.js",
    "bench/mutation/{events-ignorer,survivors-reporter}.js",
    "bench/bare/remix.config.js",
    "bench/bare/app/{root,entry.server}.tsx",
    "bench/bare/app/routes/*.tsx",
  ],
  project: ["{app,server,bench,demo,lint,tests}/**/*.{ts,tsx,js,css}", "*.{ts,js}"],
  ignoreDependencies: ["pino-pretty"], // named as a transport in server/log.ts
  ignoreBinaries: ["Xvfb", "dbus-run-session", "script", "systemd-analyze"], // of the system, in tests/
  ignoreExportsUsedInFile: true,
  compilers: {
    css: (text: string) => [...text.matchAll(/(?<=@)import[^;]+/g)].join("\n"),
  },
});
