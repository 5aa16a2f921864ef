import { PostgreSqlKnexDialect } from "@mikro-orm/postgresql";
import type { ClientParameters } from "./connection";

/**
 * A knex dialect that connects to the host that accepts writes, which node-postgres cannot find (its issue 2781).
 * It connects to all hosts at once: one whose machine is lost would delay the others by the time limit of a connection.
 */
export const dialectForPrimary = (hosts: ClientParameters[]) =>
  class extends PostgreSqlKnexDialect {
    async #connectTo(host: ClientParameters) {
      // Read before the first await. A copy would lack the password, which knex makes non-enumerable.
      Object.assign(this.connectionSettings, { port: 5432 }, host);
      const client = await super.acquireRawConnection();
      try {
        const { rows } = await client.query("show transaction_read_only");
        if (rows[0].transaction_read_only === "on") throw readOnly();
        return client;
      } catch (error) {
        await this.destroyRawConnection(client);
        throw error;
      }
    }

    async acquireRawConnection() {
      const attempts = hosts.map((host) => this.#connectTo(host));
      const primary = await Promise.any(attempts).catch(({ errors: [error, ...others] }: AggregateError) => {
        error.message = [error, ...others].map(({ message, code }) => message || code).join("; ");
        throw error;
      });
      for (const attempt of attempts) {
        const closed = attempt.then((client) => client === primary || this.destroyRawConnection(client));
        closed.catch(() => {}); // of a host that is down or read-only
      }
      return primary;
    }
  };

/** PostgreSQL's code for a statement that a read-only server refuses. */
export const readOnlyError = "25006";

const readOnly = () => Object.assign(new Error("the server is read-only"), { code: readOnlyError });
