import type { Options } from "@mikro-orm/postgresql";
import { openEmbeddedDatabase } from "./embedded";

/** Where a PostgreSQL is reached. The embedded one serves one connection and one process. */
export interface Connection {
  kind: "postgresql" | "embedded";
  address: Pick<Options, "clientUrl" | "host" | "user" | "dbName">;
  close(): Promise<void>;
}

export function embeddedConnection({ host, close }: { host: string; close(): Promise<void> }): Connection {
  return { kind: "embedded", address: { host, user: "postgres", dbName: "postgres" }, close };
}

/**
 * The connection that `DATABASE_URL` names; `pglite:FOLDER` starts the embedded database.
 *
 * @throws StartError when the data folder is unusable
 */
export async function connectionFor(databaseUrl: string): Promise<Connection> {
  if (databaseUrl.startsWith("pglite:")) {
    return embeddedConnection(await openEmbeddedDatabase(databaseUrl.slice("pglite:".length)));
  }
  return { kind: "postgresql", address: { clientUrl: databaseUrl }, close: async () => {} };
}
