import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { latchkey } from "../support/command";
import { type Pooler, startPgBouncer } from "../support/pgbouncer";
import { PostgresCluster } from "../support/postgres-cluster";

let cluster: PostgresCluster;
let pooler: Pooler;
let direct: string;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  pooler = await startPgBouncer(cluster.port);
  direct = await cluster.createDatabase();
});

afterAll(async () => {
  await pooler.stop();
  await cluster.remove();
});

async function checks(settings: Record<string, string>): Promise<string[]> {
  const { DATABASE_URL } = pooler.settingsFor(direct);
  const { stdout } = await latchkey(["doctor", "--json"], { DATABASE_URL, ...settings });
  const database = (JSON.parse(stdout) as Check[]).filter(({ name }) => name === "database");
  return database.map(({ status, found, fix }) => `${status} ${found}${fix ? ` Fix: ${fix}` : ""}`);
}

describe("with DATABASE_DIRECT_URL doctor", () => {
  const version = expect.stringMatching(/^ok PostgreSQL 1\d/);

  test("warns of statements through the pooler without a time limit", async () => {
    expect(await checks({ DATABASE_DIRECT_URL: direct })).toEqual([
      version,
      "warn statements through the pooler have no time limit Fix: alter role … set statement_timeout = '4s'",
      version,
    ]);
  });

  describe("after the role got a time limit", () => {
    beforeAll(async () => {
      await cluster.execute("alter role postgres set statement_timeout = '4s'");
      await cluster.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null",
      );
    });

    test("names the limit", async () => {
      expect(await checks({ DATABASE_DIRECT_URL: direct })).toEqual([
        version,
        "ok statements through the pooler end after 4s",
        version,
      ]);
    });

    test("names a direct connection that fails", async () => {
      expect(await checks({ DATABASE_DIRECT_URL: "postgresql://127.0.0.1:1/none" })).toEqual([
        version,
        "ok statements through the pooler end after 4s",
        expect.stringMatching(/^fail The database at 127\.0\.0\.1:1\/none cannot be used: connect ECONNREFUSED/),
      ]);
    });
  });
});

test("doctor says that a pooler needs DATABASE_DIRECT_URL", async () => {
  expect(await checks({})).toEqual([
    expect.stringMatching(
      /unsupported startup parameter: statement_timeout Fix: set DATABASE_DIRECT_URL: DATABASE_URL leads to a pooler$/,
    ),
  ]);
});
