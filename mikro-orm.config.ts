import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { loadConfig } from "#server/config.server";
import { connectionFor, ormOptions } from "#server/database.server";

/** For the MikroORM command line; the service itself starts in `server/start.server.ts`. */
export default async () => {
  const connection = await connectionFor(loadConfig(process.env).databaseUrl);

  /** The command line closes the ORM alone, and PGlite's timers would keep it from ending. */
  class Driver extends PostgreSqlDriver {
    override async close(force?: boolean): Promise<void> {
      await super.close(force);
      await connection.close();
    }
  }

  return { ...ormOptions(connection), driver: Driver };
};
