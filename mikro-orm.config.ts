import { Migrator, TSMigrationGenerator } from "@mikro-orm/migrations";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { loadConfig } from "#server/config.server";
import { connectionFor, ormOptions } from "#server/database.server";
import { migrationOptions } from "#server/migrations";

/** A migration is loaded when it has to run, and so is what it stands on. */
class MigrationGenerator extends TSMigrationGenerator {
  override generateMigrationFile(...description: Parameters<TSMigrationGenerator["generateMigrationFile"]>): string {
    const file = super.generateMigrationFile(...description);
    return file.replace(/^import .*;/, 'const { Migration } = await import("@mikro-orm/migrations");');
  }
}

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

  return {
    ...ormOptions(connection),
    driver: Driver,
    extensions: [Migrator],
    migrations: { ...(await migrationOptions()), generator: MigrationGenerator },
  };
};
