import { afterAll } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../support/server";

/** Empty databases for the tests of one file, dropped after the last. */
export function createDatabases() {
  const databases: TestDatabase[] = [];
  afterAll(() => Promise.all(databases.map(({ drop }) => drop())));
  return {
    /** Resolves with the URL of a new one. */
    async createDatabase(): Promise<string> {
      const database = await createEmptyDatabase();
      databases.push(database);
      return database.url;
    },
  };
}
