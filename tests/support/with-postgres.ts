// Runs a command with the URL of a PostgreSQL of its own in DATABASE_URL: tsx tests/support/with-postgres.ts COMMAND
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PostgresCluster } from "./postgres-cluster";
import { requirePrograms } from "./programs";

requirePrograms(["initdb", "script"]);
const cluster = await PostgresCluster.start({ settings: { max_connections: 200, fsync: "off" } });
process.on("SIGINT", () => {}); // The command gets it too, and ends.
try {
  const [command = "", ...words] = process.argv.slice(2);
  const env = { ...process.env, DATABASE_URL: await cluster.createDatabase() };
  const [status] = await once(spawn(command, words, { stdio: "inherit", env }), "exit");
  process.exitCode = status ?? 1;
} finally {
  await cluster.remove();
}
