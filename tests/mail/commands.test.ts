import { beforeEach, describe, expect, test } from "vitest";
import { askForAccount } from "../support/account-calls";
import { failed, succeeded } from "../support/command";
import { startLatchkey } from "../support/latchkey";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";

const outgoing = recordOutgoingCalls();
const latchkey = startLatchkey({
  MAIL_DRIVER: "postmark",
  POSTMARK_SERVER_TOKEN: "a-token",
  MAIL_FROM: "mail@latchkey.example",
});

interface JobRow {
  id: string;
  state: string;
  retry_count: number;
  completed_on: Date;
}

async function jobOf(email: string): Promise<JobRow | undefined> {
  const sql = "select id, state::text, retry_count, completed_on from pgboss.job where data->>'email' = ?";
  return (await latchkey.execute<JobRow>(sql, [email]))[0];
}

const down: Answer = { status: 500 };
const refused: Answer = { status: 422, body: '{"ErrorCode":406,"Message":"You tried to send to a recipient"}' };

async function work(answer: Answer): Promise<void> {
  outgoing.answer("POST", "https://api.postmarkapp.com/email", answer);
  await latchkey.drain();
}

async function request(email: string, answer: Answer): Promise<JobRow> {
  await askForAccount(email);
  await work(answer);
  return (await jobOf(email))!;
}

/** Lets the jobs that wait for a retry be worked now, as their last. */
const endLastWait = () =>
  latchkey.execute(
    "update pgboss.job set retry_count = retry_limit - 1, start_after = now() - interval '1 s' where state = 'retry'",
  );

async function giveUp(): Promise<[exhausted: JobRow, refused: JobRow]> {
  const first = await request("first@example.com", refused);
  await request("last@example.com", down);
  await endLastWait();
  await work(down);
  return [(await jobOf("last@example.com"))!, first];
}

test.each([
  [["mail", "failed"], "No mail was given up.\n"],
  [["mail", "failed", "--json"], "[]\n"],
])("`%s` says that no mail was given up", async (words, printed) => {
  expect(await latchkey.command(...words)).toEqual(succeeded(printed));
});

/** Two mails that were given up, the newest first, and one that waits for its retry. */
async function giveUpBesideWaiting() {
  const [exhausted, first] = await giveUp();
  const waiting = await request("waiting@example.com", down);
  const mails = [
    { id: exhausted.id, at: exhausted.completed_on, email: "last@example.com", error: "CallError status 500" },
    { id: first.id, at: first.completed_on, email: "first@example.com", error: "MailRefused recipient_refused" },
  ].map((mail) => ({ ...mail, at: new Date(mail.at).toISOString() }));
  return { mails, waiting };
}

test("`mail failed` lists the mails that were given up", async () => {
  const { mails } = await giveUpBesideWaiting();
  const lines = mails.map(({ id, at, email, error }) => `${id}  ${at}  registration  ${email}  ${error}\n`);
  expect(await latchkey.command("mail", "failed")).toEqual(succeeded(lines.join("")));
});

test("`mail failed --json` lists the mails that were given up", async () => {
  const { mails } = await giveUpBesideWaiting();
  const { stdout } = await latchkey.command("mail", "failed", "--json");
  expect(JSON.parse(stdout)).toEqual(mails.map((mail) => ({ ...mail, task: "mail_registration" })));
});

test("`mail retry ID` refuses a mail that waits for its retry", async () => {
  const { waiting } = await giveUpBesideWaiting();
  expect((await latchkey.command("mail", "retry", waiting.id)).status).toBe(1);
});

describe("`mail retry ID`", () => {
  let exhausted: JobRow;

  beforeEach(async () => {
    const mails = await giveUp();
    exhausted = mails[0];
    expect(await latchkey.command("mail", "retry", mails[1].id)).toEqual(succeeded("1 mail will be sent again.\n"));
    await work(down);
  });

  test("sends that mail with every retry", async () => {
    expect(await jobOf("first@example.com")).toMatchObject({ state: "retry", retry_count: 0 });
  });

  test("sends a new token", () => {
    const tokens = outgoing.calls().flatMap(({ body }) => /first%40.*?&token=([0-9a-f]{64})/.exec(body)?.[1] ?? []);
    expect(new Set(tokens).size).toBe(2);
  });

  test("leaves the other mails", async () => {
    expect(await jobOf("last@example.com")).toEqual(exhausted);
  });
});

test("`mail retry` sends every mail once", async () => {
  await giveUp();
  expect(await latchkey.command("mail", "retry")).toEqual(succeeded("2 mails will be sent again.\n"));
  expect(await latchkey.command("mail", "retry")).toEqual(succeeded("0 mails will be sent again.\n"));
});

test.each(["17", "00000000-0000-4000-8000-000000000000", "' or true --"])("`mail retry %s` is none", async (id) => {
  await request("kept@example.com", refused);
  const refusal = await latchkey.unchanged(() => latchkey.command("mail", "retry", id));
  expect(refusal).toEqual(failed(`No mail that was given up has the id ${id}: \`latchkey mail failed\` lists them.\n`));
});
