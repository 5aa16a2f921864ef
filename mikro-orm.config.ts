import { Migrator, TSMigrationGenerator } from "@mikro-orm/migrations";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { loadConfig } from "#server/config";
import { connectionFor } from "#server/database/connection";
import { migrationOptions } from "#server/database/migrations";
import { ormOptions } from "#server/database/orm";

/** A migration imports its base class when it runs, so that a start without migrations does not load it. */
class MigrationGenerator extends TSMigrationGenerator {
  override generateMigrationFile(...description: Parameters<TSMigrationGenerator["generateMigrationFile"]>): string {
    const file = super.generateMigrationFile(...description);
    return file.replace(/^import .*;/, 'const { Migration } = await import("@mikro-orm/migrations");');
  }
}

/** For the MikroORM command line. The service starts in `server/start.server.ts`. */
export default async () => {
  const connection = await connectionFor(loadConfig(process.env).databaseUrl);

  /** The command line closes only the ORM. An open PGlite would keep its process alive. */
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
