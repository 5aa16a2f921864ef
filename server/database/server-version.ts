import type { EntityManager } from "@mikro-orm/postgresql";

const oldestVersion = 150_000; // server_version_num of PostgreSQL 15

/** The version of the PostgreSQL server, and whether Latchkey cannot run on it. */
export async function serverVersion(em: EntityManager): Promise<{ name: string; tooOld: boolean }> {
  const [row] = await em.execute<{ number: number; name: string }[]>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as name",
  );
  return { name: row?.name ?? "unknown", tooOld: (row?.number ?? 0) < oldestVersion };
}
