import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { giveToPostgres, postgresUser } from "./postgres-cluster";
import { findProgram } from "./programs";
import { freePort, watchProcess } from "./server";

export type Pooler = Awaited<ReturnType<typeof startPgBouncer>>;

/** Starts PgBouncer with `deploy/pgbouncer.ini` in front of every database of a cluster, which asks for no password. */
export async function startPgBouncer(postgresPort: number) {
  const port = await freePort();
  const home = mkdtempSync(join(tmpdir(), "latchkey-pgbouncer-"));
  const settings = readFileSync("deploy/pgbouncer.ini", "utf8")
    .replace("latchkey = host=127.0.0.1 port=5432", `* = host=127.0.0.1 port=${postgresPort} user=postgres`)
    .replace("listen_port = 6432", `listen_port = ${port}`)
    .replace("auth_type = scram-sha-256", "auth_type = any")
    .replaceAll(/^(?:auth_file|logfile|pidfile|unix_socket_dir) = .*$/gm, "")
    .concat("unix_socket_dir =\n");
  const file = join(home, "pgbouncer.ini");
  writeFileSync(file, settings);
  for (const path of [home, file]) giveToPostgres(path);
  const options = { ...postgresUser(), cwd: home };
  const pooler = watchProcess(spawn(findProgram("pgbouncer") ?? "", [file], options));
  await pooler.waitFor(/process up/);
  return {
    /** Latchkey's settings for a database of the cluster. */
    settingsFor: (databaseUrl: string) => ({
      DATABASE_URL: databaseUrl.replace(/:\d+\//, `:${port}/`),
      DATABASE_DIRECT_URL: databaseUrl,
    }),
    async stop() {
      await pooler.kill();
      rmSync(home, { recursive: true });
    },
  };
}
