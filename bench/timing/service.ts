import { type MailServiceBehaviour, startMailService } from "../../tests/support/mail-service";
import { createEmptyDatabase, startServer } from "../../tests/support/server";
import { HttpClient } from "./http-client";

/** @param seed writes what the server finds in the database */
export async function startService(
  seed: (databaseUrl: string) => Promise<void>,
  { behaviour, connections }: { behaviour?: MailServiceBehaviour; connections?: number } = {},
) {
  const [database, mailService] = [await createEmptyDatabase(), await startMailService(behaviour)];
  await seed(database.url);
  const server = await startServer({ ...mailService.settings, DATABASE_URL: database.url, TRUST_PROXY: "true" });
  const http = new HttpClient(server.port, connections);
  return {
    databaseUrl: database.url,
    mailService,
    server,
    http,
    async end() {
      http.close();
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
