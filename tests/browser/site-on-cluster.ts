import { afterAll, beforeAll } from "vitest";
import { PostgresCluster } from "../support/postgres-cluster";
import { startSite } from "./site";

/** A site whose database is on a PostgreSQL cluster of its own, which a test can stop and start. */
export function startSiteOnCluster(failures?: RegExp) {
  let cluster: PostgresCluster;
  let databaseUrl: string;

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    databaseUrl = await cluster.createDatabase();
  });

  const site = startSite(() => ({ DATABASE_URL: databaseUrl }), failures);

  afterAll(() => cluster.remove());

  return { ...site, cluster: () => cluster, databaseUrl: () => databaseUrl };
}
