import { flushTables } from "./flushed-files";
import { query } from "./unit-of-work";

// As PostgreSQL's autovacuum does it, but after at most 5,000 dead rows, or a vacuum would hold up requests (measured).
// In two statements for the same reason: the first cleans the table, the second its indexes.
const due = `
  with tables as (
    select relid::regclass as name, n_dead_tup, n_mod_since_analyze, relfrozenxid, relkind, greatest(reltuples, 0) as rows
    from pg_stat_all_tables join pg_class on oid = relid
  )
  select command || name as statement
  from tables, unnest(array['vacuum (index_cleanup off, truncate off) ', 'vacuum ']) as command
  where n_dead_tup > 50 + least(rows / 5, 5000) or age(relfrozenxid) > 200000000
  union all
  select 'analyze ' || name from tables where relkind = 'r' and n_mod_since_analyze > 50 + rows / 10
  union all
  select 'checkpoint' from pg_control_checkpoint() where pg_current_wal_lsn() - redo_lsn > 16 * 1024 * 1024`;

/**
 * PGlite has no autovacuum and no checkpointer. Each statement runs by itself, so that requests run in between.
 * @param files the database's folder
 */
export async function keepUp(files: string): Promise<void> {
  const statements = await query((em) => em.execute<{ statement: string }[]>(due));
  for (const { statement } of statements) {
    // A checkpoint stops the event loop while it flushes (0.4 s with 100,000 accounts, and 0.15 s after this).
    if (statement === "checkpoint") await flushTables(files);
    await query((em) => em.execute(statement));
  }
}
