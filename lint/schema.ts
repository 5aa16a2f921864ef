import { PGlite } from "@electric-sql/pglite";
import { embeddedConnection } from "#server/database/connection";
import { listenOnSocket } from "#server/database/embedded";
import { migrate } from "#server/database/migrate";
import { connect } from "#server/database/orm";

/** Says what the entities have and the migrations do not make, as `mikro-orm migration:check` would, in a new database. */

const { orm, close } = await connect(embeddedConnection(await listenOnSocket(await PGlite.create())));
await migrate(orm);
const missing = await orm.getSchemaGenerator().getUpdateSchemaSQL({ wrap: false });
await close();

if (missing !== "") {
  console.error(`A migration is missing (docs/extending.md) for:\n${missing}`);
  process.exitCode = 1;
}
