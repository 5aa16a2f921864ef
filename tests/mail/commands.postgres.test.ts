import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { latchkey } from "../support/command";
import { createDatabases } from "../support/databases";
import { type MailService, startMailService } from "../support/mail-service";
import { connect } from "../support/postgres-cluster";
import { type RunningServer, startServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const cluster = createDatabases();
let mailService: MailService;
let service: RunningServer;
let settings: Record<string, string>;

beforeAll(async () => {
  mailService = await startMailService();
  settings = { ...mailService.settings, DATABASE_URL: await cluster.createDatabase() };
  service = await startServer(settings);
});

beforeEach(() => query("delete from pgboss.job"));

afterAll(async () => {
  await service.kill();
  await mailService.stop();
});

async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = await connect(settings.DATABASE_URL ?? "");
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

interface JobRow {
  id: string;
  state: string;
  retry_count: number;
  completed_on: Date;
}

const jobsOf = (email: string) => query<JobRow>("select * from pgboss.job where data->>'email' = $1", [email]);

/** Requests a registration mail, which the mail service answers so, and waits until the job has this state. */
async function request(email: string, status: number, body: string, state: string): Promise<JobRow> {
  mailService.setBehaviour({ kind: "answer", status, body });
  await new Visitor(service.url).post("/register", { email });
  await until(async () => (await jobsOf(email))[0]?.state === state, `the job of ${email} is ${state}`);
  const [job] = await jobsOf(email);
  return job!;
}

const refused = [422, '{"ErrorCode":406,"Message":"You tried to send to a recipient"}'] as const;

const refuse = (email: string) => request(email, ...refused, "cancelled");

async function exhaust(email: string): Promise<JobRow> {
  await request(email, 500, "Down", "retry");
  await query("update pgboss.job set retry_count = retry_limit - 1, start_after = now() where data->>'email' = $1", [
    email,
  ]);
  await until(async () => (await jobsOf(email))[0]?.state === "failed", `the job of ${email} has failed`);
  const [job] = await jobsOf(email);
  return job!;
}

test("no mail was given up: the list is empty", async () => {
  const empty = { status: 0, stdout: "No mail was given up.\n", stderr: "" };
  expect(await latchkey(["mail", "failed"], settings)).toMatchObject(empty);
  expect((await latchkey(["mail", "failed", "--json"], settings)).stdout).toBe("[]\n");
});

test("refused mails and those after their last retry are listed with their errors, the newest first; waiting ones are not", async () => {
  const first = await refuse("first@example.com");
  const last = await exhaust("last@example.com");
  const waiting = await request("waiting@example.com", 500, "Down", "retry");
  const mails = [
    { id: last.id, email: "last@example.com", at: last.completed_on.toISOString(), error: "CallError status 500" },
    {
      id: first.id,
      email: "first@example.com",
      at: first.completed_on.toISOString(),
      error: "MailRefused recipient_refused",
    },
  ];
  expect(await latchkey(["mail", "failed"], settings)).toMatchObject({
    status: 0,
    stdout: mails.map(({ id, at, email, error }) => `${id}  ${at}  registration  ${email}  ${error}\n`).join(""),
    stderr: "",
  });
  expect(JSON.parse((await latchkey(["mail", "failed", "--json"], settings)).stdout)).toEqual(
    mails.map((mail) => ({ ...mail, task: "mail_registration" })),
  );
  expect((await latchkey(["mail", "retry", waiting.id], settings)).status).toBe(1);
});

test("`mail retry ID` lets the running service send that mail, with every retry and a new token, and no other", async () => {
  const { id } = await refuse("again@example.com");
  const other = await refuse("other@example.com");
  const before = (await mailService.attempted("again@example.com")).token;
  mailService.setBehaviour({ kind: "answer", status: 500, body: "Down" });
  expect(await latchkey(["mail", "retry", id], settings)).toMatchObject({
    status: 0,
    stdout: "1 mail will be sent again.\n",
    stderr: "",
  });
  await until(async () => (await jobsOf("again@example.com"))[0]?.state === "retry", "the mail was tried again");
  expect(await jobsOf("again@example.com")).toMatchObject([{ retry_count: 0 }]);
  mailService.setBehaviour({ kind: "accept" });
  await query("update pgboss.job set start_after = now() where state = 'retry'");
  const sent = await mailService.to("again@example.com");
  expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
  expect(sent.token).not.toBe(before);
  await until(async () => (await jobsOf("again@example.com")).length === 0, "the job is done");
  expect(await jobsOf("other@example.com")).toMatchObject([{ id: other.id, state: "cancelled" }]);
});

test("`mail retry` without an id sends all that were given up", async () => {
  await refuse("one@example.com");
  await exhaust("two@example.com");
  mailService.setBehaviour({ kind: "accept" });
  expect((await latchkey(["mail", "retry"], settings)).stdout).toBe("2 mails will be sent again.\n");
  await mailService.to("one@example.com");
  await mailService.to("two@example.com");
  expect((await latchkey(["mail", "retry"], settings)).stdout).toBe("0 mails will be sent again.\n");
});

test.each(["17", "00000000-0000-4000-8000-000000000000", "' or true --"])(
  "`mail retry %s`: no mail that was given up, status 1",
  async (id) => {
    await refuse("kept@example.com");
    expect(await latchkey(["mail", "retry", id], settings)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `No mail that was given up has the id ${id}: \`latchkey mail failed\` lists them.\n`,
    });
    expect(await jobsOf("kept@example.com")).toMatchObject([{ state: "cancelled" }]);
  },
);
