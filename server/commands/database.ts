import { prepareSchema } from "../features/schema.server";
import { type Command, defineCommand } from "./command";
import { withUnpreparedDatabase } from "./open-database";

const migrate = defineCommand({
  name: "database migrate",
  operands: [],
  options: {},
  summary: "run the missing migrations",
  details: "Runs the migrations that the database does not have yet. Each start of the service does the same.",
  async run() {
    await withUnpreparedDatabase(prepareSchema);
    process.stdout.write("The database is up to date.\n");
  },
});

export const databaseCommands: Command[] = [migrate];
