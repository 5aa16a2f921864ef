import type { Options } from "@mikro-orm/postgresql";
import { parseIntoClientConfig } from "pg-connection-string";
import { StartError } from "../errors";
import { openEmbeddedDatabase } from "./embedded";

/** Where a PostgreSQL is reached. The embedded one serves one connection and one process. */
export interface Connection {
  kind: "postgresql" | "embedded";
  address: Pick<Options, "clientUrl" | "host" | "user" | "dbName">;
  /** For node-postgres: the TLS and the other parameters that a URL names. MikroORM reads none of them. */
  client: ReturnType<typeof parseIntoClientConfig>;
  close(): Promise<void>;
}

export function embeddedConnection({ host, close }: { host: string; close(): Promise<void> }): Connection {
  return { kind: "embedded", address: { host, user: "postgres", dbName: "postgres" }, client: {}, close };
}

const passedOn = ["host", "port", "ssl", "sslnegotiation", "application_name", "options"];

function clientConfig(databaseUrl: string): Connection["client"] {
  try {
    const parameters = Object.entries(parseIntoClientConfig(databaseUrl));
    return Object.fromEntries(parameters.filter(([name, value]) => passedOn.includes(name) && value !== ""));
  } catch (error) {
    throw new StartError(`The URL of the database cannot be used: ${(error as Error).message}.`);
  }
}

/**
 * The connection that `DATABASE_URL` names; `pglite:FOLDER` starts the embedded database.
 *
 * @throws StartError when the data folder is unusable, or a file that the URL names cannot be read
 */
export async function connectionFor(databaseUrl: string): Promise<Connection> {
  if (databaseUrl.startsWith("pglite:")) {
    return embeddedConnection(await openEmbeddedDatabase(databaseUrl.slice("pglite:".length)));
  }
  const client = clientConfig(databaseUrl);
  return { kind: "postgresql", address: { clientUrl: databaseUrl }, client, close: async () => {} };
}
