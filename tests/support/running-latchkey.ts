import { afterAll, beforeAll } from "vitest";
import { type Sent, send, sendPlainly } from "./http";
import { exchange } from "./raw-http";
import { type RunningServer, startServer, type TestDatabase } from "./server";
import { createDatabase } from "./template-copy";
import { Visitor } from "./visitor";

export interface LoggedEvent {
  event: string;
  time: string;
  level: number;
  requestId?: string;
  jobId?: string;
  userId?: string;
  reason?: string;
  count?: number;
}

export function runLatchkey(
  settings: Record<string, string> = {},
  openDatabase: () => Promise<TestDatabase> = createDatabase,
) {
  let database: TestDatabase;
  let server: RunningServer;

  beforeAll(async () => {
    database = await openDatabase();
    server = await startServer({ TRUST_PROXY: "true", ...settings, DATABASE_URL: database.url });
  });

  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  const events = (): LoggedEvent[] =>
    server
      .output()
      .split("\n")
      .filter((line) => /^\{.*"event":/.test(line))
      .map((line) => JSON.parse(line));

  const mailTo: RunningServer["mail"] = (...mail) => server.mail(...mail);

  const visit = () => new Visitor(server.url);

  /** Resolves when everything printed so far is in the output: a pipe keeps the order. `.data` renders no page. */
  async function flushed(): Promise<void> {
    const path = `/nowhere/${crypto.randomUUID()}.data`;
    await visit().get(path);
    await server.waitFor(new RegExp(`^GET ${path} `, "m"));
  }

  return {
    url: () => server.url,
    port: () => server.port,
    databaseUrl: () => server.databaseUrl,
    output: () => server.output(),
    waitFor: (pattern: RegExp) => server.waitFor(pattern),
    nextOutput: () => server.nextOutput(),
    stop: () => server.stop(),
    send: (path: string, sent?: Sent) => send(server.url, path, sent),
    /** As `send`, with no header that a browser has not sent. */
    sendPlainly: (path: string, sent?: Sent) => sendPlainly(server.url, path, sent),
    exchange: (lines: string[]) => exchange(server.port, lines),
    visit,
    mailTo,
    flushed,

    async eventsOf(work: () => Promise<unknown>, jobs = 0): Promise<LoggedEvent[]> {
      await flushed();
      const before = events().length;
      const since = () => events().slice(before);
      await work();
      await flushed();
      while (since().filter(({ jobId }) => jobId).length < jobs) await server.nextOutput();
      return since();
    },

    async register(email: string, visitor = visit()): Promise<Visitor> {
      await visitor.register(server, email);
      return visitor;
    },

    /** Requests a reset link and reads it from the mail. */
    async resetLink(email: string, visitor = visit()): Promise<{ email: string; token: string }> {
      await visitor.askForReset(email);
      const { link } = await mailTo(email, "Reset your password");
      return { email, token: link?.searchParams.get("token") ?? "" };
    },
  };
}
