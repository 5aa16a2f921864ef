import pg from "pg";
import { vi } from "vitest";

export interface SentStatement {
  text: string;
  values?: unknown[] | undefined;
}

/** Every statement that `work` sent to PostgreSQL, without those that begin and end transactions. */
export async function statementsOf(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const query = vi.spyOn(pg.Client.prototype, "query");
  await work();
  const sent = query.mock.calls.map(([statement]) => statement as unknown as SentStatement);
  query.mockRestore();
  return sent.filter(({ text }) => /^\s*(?:select|insert|update|delete|with)\b/i.test(text));
}
