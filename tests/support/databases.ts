import { afterAll } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "./server";

export function createDatabases() {
  const databases: TestDatabase[] = [];
  afterAll(() => Promise.all(databases.map(({ drop }) => drop())));
  return {
    async createDatabase(): Promise<string> {
      const database = await createEmptyDatabase();
      databases.push(database);
      return database.url;
    },
  };
}
