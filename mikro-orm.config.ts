import { Migrator, TSMigrationGenerator } from "@mikro-orm/migrations";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { loadConfig } from "#server/config";
import { connectionFor } from "#server/database/connection";
import { migrationOptions } from "#server/database/migrations/index";
import { ormOptions } from "#server/database/orm";

const lineWidth = 120; // biome.json

/** A migration imports its base class when it runs, so that a start without migrations does not load it. */
class MigrationGenerator extends TSMigrationGenerator {
  override createStatement(sql: string, indent: number): string {
    const space = " ".repeat(indent);
    const text = `\`${sql.replace(/[`\\]|\$(?=\{)/g, "\\$&")}\``;
    const line = `${space}this.addSql(${text});`;
    return line.length <= lineWidth ? line : `${space}this.addSql(\n${space}  ${text},\n${space});`;
  }

  override generateMigrationFile(className: string, diff: Record<"up" | "down", string[]>): string {
    const methods = (["up", "down"] as const).map((name) => {
      const statements = diff[name].filter((sql) => sql !== "").map((sql) => this.createStatement(sql, 4));
      return [`  override ${name}(): void {`, ...statements, "  }"].join("\n");
    });
    return `const { Migration } = await import("@mikro-orm/migrations");

export class ${className} extends Migration {
${methods.join("\n\n")}
}
`;
  }
}

/** For the MikroORM command line. The service starts in `server/start.ts`. */
export default async () => {
  const { databaseUrl, databaseDirectUrl } = loadConfig(process.env);
  const connection = await connectionFor(databaseDirectUrl ?? databaseUrl);

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
