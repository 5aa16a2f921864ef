import { loadConfig } from "#server/config.server";
import { connectionFor, ormOptions } from "#server/database.server";

/** For the MikroORM command line; the service itself starts in `server/start.server.ts`. */
export default async () => ormOptions(await connectionFor(loadConfig(process.env).databaseUrl));
