import { afterAll, beforeAll } from "vitest";
import { type Sent, send } from "./http";
import { mailsIn, type SentMail } from "./printed-mails";
import { exchange } from "./raw-http";
import { type RunningServer, startServer, type TestDatabase } from "./server";
import { createDatabase } from "./template-copy";
import { twice } from "./twice";
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

export const password = "correct horse battery staple";

/** Runs the production build on a new database for the tests of one file, with a trusted proxy. */
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

  const mails = () => mailsIn(server.output());
  const events = (): LoggedEvent[] =>
    server
      .output()
      .split("\n")
      .filter((line) => /^\{.*"event":/.test(line))
      .map((line) => JSON.parse(line));

  async function pollOutput<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await server.nextOutput();
    }
  }

  /** Resolves with the `count`th mail to the address with this subject. */
  const mailTo = (to: string, subject: string, count = 1): Promise<SentMail> =>
    pollOutput(() => mails().filter((mail) => mail.to === to && mail.subject === subject)[count - 1]);

  const visit = (address?: string) => new Visitor(server.url, address);

  /** Resolves when everything printed so far is in the output, because a pipe keeps the order. */
  async function flushed(): Promise<void> {
    const path = `/nowhere/${crypto.randomUUID()}`;
    await visit().get(path);
    await server.waitFor(new RegExp(`^GET ${path} `, "m"));
  }

  return {
    url: () => server.url,
    port: () => server.port,
    pid(): number {
      const { pid } = server.process;
      if (pid === undefined) throw new Error("The server did not start.");
      return pid;
    },
    databaseUrl: () => server.databaseUrl,
    output: () => server.output(),
    waitFor: (pattern: RegExp) => server.waitFor(pattern),
    nextOutput: () => server.nextOutput(),
    stop: () => server.stop(),
    send: (path: string, sent?: Sent) => send(server.url, path, sent),
    exchange: (lines: string[]) => exchange(server.port, lines),
    visit,
    mails,
    mailTo,
    flushed,

    /** The events that `work` logs, including at least `jobs` events of its jobs. */
    async eventsOf(work: () => Promise<unknown>, jobs = 0): Promise<LoggedEvent[]> {
      await flushed();
      const before = events().length;
      const since = () => events().slice(before);
      await work();
      await flushed();
      await pollOutput(() => since().filter(({ jobId }) => jobId)[jobs - 1] ?? (jobs === 0 || undefined));
      return since();
    },

    /** Registers with the mailed link; the visitor is then signed in. */
    async register(email: string, visitor = visit()): Promise<Visitor> {
      await visitor.post("/register", { email });
      const { link } = await mailTo(email, "Finish creating your account");
      const claim = { email, token: link?.searchParams.get("token") ?? "" };
      await visitor.post("/register/complete", { ...claim, ...twice(password) });
      return visitor;
    },

    /** Requests the `count`th reset link of the address and reads it from the mail. */
    async resetLink(email: string, visitor = visit(), count = 1): Promise<{ email: string; token: string }> {
      await visitor.post("/forgot-password", { email });
      const { link } = await mailTo(email, "Reset your password", count);
      return { email, token: link?.searchParams.get("token") ?? "" };
    },
  };
}
