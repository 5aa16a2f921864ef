import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { tags } from "./lint/evidence/tags.ts";
import { LongestFirst } from "./tests/support/longest-first.ts";
import { alias, startsProcesses } from "./tests/support/vitest-options.js";

const freshBuild = "tests/support/fresh-build.ts";
const programs = "tests/support/programs.ts";
/** Services start on copies of a migrated database. */
const onTemplate = { globalSetup: [programs, freshBuild, "tests/support/template-database.ts"] };

const project = (
  name: string,
  include: string,
  options: TestProjectInlineConfiguration["test"],
): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`tests/${include}.test.ts`], globalSetup: [programs, freshBuild], ...options },
});

/** The folders whose tests need more than the programs of the others. */
const apart = ["tests/{deploy,engines,examples,smoke,upgrade,validators}/**"];

/** The tests that measure how long an answer or a stop takes. */
const timed = ["database/database", "external-sign-in/provider-faults", "processes/shutdown"];

const faults: TestProjectInlineConfiguration["test"] = {
  exclude: [...apart, ...timed.map((file) => `tests/${file}.machine.test.ts`)],
  provide: { programs: ["initdb", "pgbouncer", "promtool", "script"], pgbouncer: false },
  maxWorkers: 2,
};

/** The tests that need programs of the machine, or minutes: `npm run test:browser`, `test:faults` and so on. */
export default defineConfig({
  resolve: { alias },
  test: {
    tags,
    ...startsProcesses,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      project("browser", "**/*.browser", {
        ...onTemplate,
        provide: { programs: ["chromium", "chromium-headless-shell", "initdb"] },
        maxWorkers: 2,
      }),
      project("faults", "**/*.machine", faults),
      project("faults-timed", `{${timed.join()}}.machine`, {
        ...faults,
        exclude: [],
        maxWorkers: 1,
        sequence: { groupOrder: 1 },
      }),
      // With PgBouncer between the service and PostgreSQL; without the files that it could not concern.
      project("pgbouncer", "**/*.machine", {
        ...faults,
        exclude: [
          ...apart,
          "tests/database/{failover,pgbouncer,tls}.machine.test.ts",
          "tests/processes/output.machine.test.ts",
        ],
        provide: { ...faults.provide, pgbouncer: true },
        maxWorkers: 1,
      }),
      project("engines", "engines/*.machine", {
        provide: { programs: ["chromium", "dbus-run-session", "firefox-esr", "WebKitWebDriver", "Xvfb"] },
        testTimeout: 120_000,
      }),
      project("examples", "examples/*.machine", {
        ...onTemplate,
        provide: {
          programs: [
            "apache2",
            "caddy",
            "chromium-headless-shell",
            "curl",
            "dist-packages/caldav",
            "dist-packages/jwt",
            "icingaweb2/public",
            "initdb",
            "nginx",
            "php",
            "python3",
            "radicale",
            "tt-rss/www",
          ],
        },
        maxWorkers: 2,
      }),
      project("device", "examples/*.chromium", {
        ...onTemplate,
        provide: { programs: ["caddy", "chromium", "initdb", "nginx"] },
        maxWorkers: 1,
      }),
      project("validators", "validators/*.machine", {
        ...onTemplate,
        provide: { programs: ["caddy", "chromium-headless-shell", "java", "nginx", "testssl"] },
        maxWorkers: 1,
      }),
      project("deploy", "deploy/*.machine", {
        provide: {
          programs: ["caddy", "curl", "initdb", "nginx", "pgbouncer", "postfix", "systemd-analyze"],
        },
        globalSetup: [programs, freshBuild, "tests/deploy/production-dependencies.ts"],
        maxWorkers: 2,
      }),
      project("upgrade", "upgrade/*.machine", {
        provide: { programs: ["initdb", "nginx"] },
        globalSetup: [programs, freshBuild, "tests/upgrade/releases.ts"],
        testTimeout: 600_000,
        fileParallelism: false,
      }),
      project("smoke", "smoke/*.machine", {
        globalSetup: ["tests/smoke/build.ts"],
        setupFiles: ["tests/support/setup.ts"],
        maxWorkers: 2,
      }),
    ],
  },
});
