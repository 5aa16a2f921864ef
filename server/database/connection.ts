import type { Options } from "@mikro-orm/postgresql";
import { parseIntoClientConfig } from "pg-connection-string";
import { StartError } from "../errors";
import { urlsOfHosts, wantsPrimary } from "../settings/database-url";
import { folderOf, openEmbeddedDatabase } from "./embedded";

type Parsed = ReturnType<typeof parseIntoClientConfig>;

/** The parameters of a URL for node-postgres, TLS included. MikroORM reads none of them. */
export type ClientParameters = Pick<Parsed, "host" | "port" | "ssl" | "application_name" | "options">;

export interface Connection {
  kind: "postgresql" | "embedded";
  address: Pick<Options, "clientUrl" | "host" | "user" | "dbName">;
  /** One for each host that the URL names. */
  hosts: ClientParameters[];
  /** Whether to use only the host that accepts writes. */
  primary: boolean;
  /** The connection that bypasses the pooler, if `address` is a pooler in transaction mode. */
  direct: Connection | null;
  /** Of an embedded database in a folder. */
  withCopy?: <T>(work: (files: string) => Promise<T>) => Promise<T | null>;
  close(): Promise<void>;
}

export async function connectionFor(databaseUrl: string, directUrl: string | null = null): Promise<Connection> {
  const folder = folderOf(databaseUrl);
  if (folder !== null) return embeddedConnection(await openEmbeddedDatabase(folder));
  const urls = urlsOfHosts(databaseUrl);
  const clientUrl = urls[0] ?? databaseUrl;
  return {
    kind: "postgresql",
    address: { clientUrl },
    hosts: urls.map(clientParameters),
    primary: wantsPrimary(clientUrl),
    direct: directUrl === null ? null : await connectionFor(directUrl),
    close: async () => {},
  };
}

type Embedded = { host: string } & Pick<Connection, "close" | "withCopy">;

export function embeddedConnection({ host, ...rest }: Embedded): Connection {
  const address = { host, user: "postgres", dbName: "postgres" };
  return { kind: "embedded", address, hosts: [{}], primary: false, direct: null, ...rest };
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

/** For an IP address, node-postgres gives TLS no host name, and Node then verifies the name `localhost`. */
function withHost(ssl: Parsed["ssl"], host: Parsed["host"]): Parsed["ssl"] {
  return ssl ? { ...(ssl === true ? {} : ssl), host } : ssl;
}
