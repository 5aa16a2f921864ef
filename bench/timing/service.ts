import { Agent } from "node:http";
import { newClientAddress } from "../../tests/support/client-address";
import { sendPlainly } from "../../tests/support/http";
import { type MailServiceBehaviour, startMailService } from "../../tests/support/mail-service";
import { createEmptyDatabase, startServer } from "../../tests/support/server";

export type Service = Awaited<ReturnType<typeof startService>>;

/** @param seed writes what the server finds in the database */
export async function startService(
  seed: (databaseUrl: string) => Promise<void>,
  { behaviour, connections = 1 }: { behaviour?: MailServiceBehaviour; connections?: number } = {},
) {
  const [database, mailService] = [await createEmptyDatabase(), await startMailService(behaviour)];
  await seed(database.url);
  const server = await startServer({ ...mailService.settings, DATABASE_URL: database.url, TRUST_PROXY: "true" });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    databaseUrl: database.url,
    mailService,
    server,
    /** Each time as another client, on a connection that stays open. */
    post(path: string, form: Record<string, string>, cookie = "") {
      const headers = { Connection: "keep-alive", "X-Forwarded-For": newClientAddress() };
      return sendPlainly(server.url, path, { form, cookie, headers, connection: { agent } });
    },
    async end() {
      agent.destroy();
      await server.kill();
      await mailService.stop();
      await database.drop();
    },
  };
}

export async function inRandomOrder(pair: [() => Promise<unknown>, () => Promise<unknown>]): Promise<void> {
  if (Math.random() < 0.5) pair.reverse();
  for (const one of pair) await one();
}
