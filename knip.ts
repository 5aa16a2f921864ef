import { defineConfig } from "knip/config";

export default defineConfig({
  entry: [
    "mikro-orm.config.ts",
    "server/processes.ts",
    "app/entry.{client,server}.tsx",
    "app/routes/**/*.{ts,tsx}",
    "tests/**/*.{test,test-d}.{ts,tsx}",
    "tests/**/vitest.config.ts",
    "tests/faults/claiming-process.ts",
    "tests/bench/{limit,provider}.ts",
    "tests/bench/empty-build.js",
    "tests/mutation/{events-ignorer,survivors-reporter}.js",
    "tests/bench/bare/remix.config.js",
    "tests/bench/bare/app/{root,entry.server}.tsx",
    "tests/bench/bare/app/routes/*.tsx",
  ],
  project: ["{app,server,demo,lint,tests}/**/*.{ts,tsx,js,css}", "*.{ts,js}"],
  ignoreDependencies: ["pino-pretty"], // named as a transport in server/log.ts
  ignoreBinaries: ["script", "systemd-analyze"], // of the system, in tests/
  ignoreExportsUsedInFile: true,
  compilers: {
    css: (text: string) => [...text.matchAll(/(?<=@)import[^;]+/g)].join("\n"),
  },
});
