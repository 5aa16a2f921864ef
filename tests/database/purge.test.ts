import { beforeEach, describe, expect, test, vi } from "vitest";
import { query } from "#server/database/unit-of-work";
import { schedulePurge } from "#server/features/operator/purge";
import { enqueue } from "#server/queue/job-queue";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

const latchkey = startLatchkey();

const hour = 3_600_000;

const links = ["password_resets", "registrations", "email_changes"];
const tables = [...links, "passkey_challenges", "logout_tokens", "sessions", "rate_limits"];
const inEach = (count: number) => Object.fromEntries(tables.map((table) => [table, count]));

/** One statement for each table: one for all of them met the time limit of a statement on a busy machine. */
async function addRows(prefix: string, count: number, expires: Date): Promise<void> {
  const email = `${prefix}@example.com`;
  const user = await latchkey.createUser({ email, password: null });
  const columns = {
    password_resets: "key, ?, at",
    registrations: "key, ?, at",
    email_changes: "key, ?, 'new@example.com', at",
    passkey_challenges: "key, at",
    logout_tokens: "key, at",
    rate_limits: "key, 1, extract(epoch from at) * 1000",
    sessions: "gen_random_uuid(), key, ?, null, now(), now(), at",
  };
  for (const [table, values] of Object.entries(columns)) {
    const owner = table === "sessions" || table === "email_changes" ? user : email;
    const rows = `insert into ${table} select ${values}
      from (select ? || n as key, ?::timestamptz as at from generate_series(1, ?::int) n) as expiring`;
    await latchkey.execute(rows, [...(values.includes("?") ? [owner] : []), prefix, expires, count]);
  }
}

async function counts(): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await latchkey.execute<{ count: number }>(`select count(*)::int as count from ${table}`);
    rows[table] = row?.count ?? -1;
  }
  return rows;
}

async function purge(): Promise<void> {
  await query((em) => enqueue(em, { task: "purge_expired" }));
  await latchkey.drain();
}

test.each([
  ["postgresql://localhost/latchkey", "ten minutes", 600_000],
  ["pglite:./data", "minute", 60_000],
])("with DATABASE_URL=%s purges are enqueued five seconds after the start then every %s", async (url, _, interval) => {
  latchkey.configure({ DATABASE_URL: url });
  const timers: [number | undefined, () => void][] = [];
  const record = (work: () => void, wait?: number) => timers.push([wait, work]);
  const spies = (["setTimeout", "setInterval"] as const).map((start) =>
    vi.spyOn(globalThis, start).mockImplementation(record as never),
  );
  schedulePurge();
  for (const spy of spies) spy.mockRestore();
  expect(timers.map(([wait]) => wait)).toEqual([5_000, interval]);
  for (const [, work] of timers) work();
  await until(async () => (await latchkey.jobs()).length === 2, "the jobs");
  expect(await latchkey.jobs()).toEqual([{ task: "purge_expired" }, { task: "purge_expired" }]);
});

test("a purge of more than one batch leaves the live rows alone", async () => {
  await addRows("old", 5_100, new Date(Date.now() - 1));
  await addRows("live", 3, new Date(Date.now() + hour));

  await purge();
  expect(await counts()).toEqual(inEach(3));
  expect(await latchkey.execute("select * from pgboss.job")).toEqual([]);
});

describe("a purge after a session that was not used for 14 days", () => {
  beforeEach(async () => {
    await addRows("idle", 1, new Date(Date.now() + hour));
    await latchkey.execute("update sessions set last_seen_at = now() - interval '14 days 1 millisecond'");
    await purge();
  });

  test("removes the session alone", async () => {
    expect(await counts()).toEqual({ ...inEach(1), sessions: 0 });
  });

  test("keeps its user", async () => {
    expect(await latchkey.execute("select email from users")).toEqual([{ email: "idle@example.com" }]);
  });
});
