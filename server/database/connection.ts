import type { Options } from "@mikro-orm/postgresql";
import { parseIntoClientConfig } from "pg-connection-string";
import { StartError } from "../errors";
import { folderOf, openEmbeddedDatabase } from "./embedded";

type Parsed = ReturnType<typeof parseIntoClientConfig>;

/** For node-postgres: the TLS and the other parameters that a URL names. MikroORM reads none of them. */
type ClientParameters = Pick<Parsed, "host" | "port" | "ssl" | "application_name" | "options">;

export interface Connection {
  kind: "postgresql" | "embedded";
  address: Pick<Options, "clientUrl" | "host" | "user" | "dbName">;
  client: ClientParameters;
  close(): Promise<void>;
}

export function embeddedConnection({ host, close }: { host: string; close(): Promise<void> }): Connection {
  return { kind: "embedded", address: { host, user: "postgres", dbName: "postgres" }, client: {}, close };
}

/** node-postgres gives TLS no name for a host that is an IP address, and Node then verifies that of `localhost`. */
function withHost(ssl: Parsed["ssl"], host: Parsed["host"]): Parsed["ssl"] {
  return ssl ? { ...(ssl === true ? {} : ssl), host } : ssl;
}

function clientParameters(databaseUrl: string): ClientParameters {
  try {
    const { host, port, ssl, application_name, options } = parseIntoClientConfig(databaseUrl);
    const named = { host, port, ssl: withHost(ssl, host), application_name, options };
    return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ""));
  } catch (error) {
    throw new StartError(`The URL of the database cannot be used: ${(error as Error).message}.`);
  }
}

export async function connectionFor(databaseUrl: string): Promise<Connection> {
  const folder = folderOf(databaseUrl);
  if (folder !== null) return embeddedConnection(await openEmbeddedDatabase(folder));
  const client = clientParameters(databaseUrl);
  return { kind: "postgresql", address: { clientUrl: databaseUrl }, client, close: async () => {} };
}
