import { defineConfig, mergeConfig } from "vitest/config";
import faults from "./vitest.config";

/** The fault suite with PgBouncer between the service and PostgreSQL; without the files that it could not concern. */
export default mergeConfig(
  faults,
  defineConfig({
    test: {
      exclude: ["tests/faults/{database-tls,failover,folder-lock,output,pgbouncer}.test.ts"],
      provide: { pgbouncer: true },
    },
  }),
);
