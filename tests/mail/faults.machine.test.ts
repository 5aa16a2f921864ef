import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtures, type Fixture } from "../support/fixture";
import type { MailServiceBehaviour } from "../support/mail-service";
import type { RunningServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

const faults: [string, MailServiceBehaviour][] = [
  ["500", { kind: "answer", status: 500, body: '{"ErrorCode":500}' }],
  ["429", { kind: "answer", status: 429, body: '{"ErrorCode":429}' }],
  ["HTML with status 200", { kind: "answer", status: 200, body: "<html>Mail sent!</html>" }],
  ["a refusal with status 200", { kind: "answer", status: 200, body: '{"ErrorCode":406,"Message":"Inactive"}' }],
  ["a closed connection", { kind: "disconnect" }],
  ["not at all", { kind: "no_answer" }],
];

describe.each(faults)("a mail service that answers %s", (_name, behaviour) => {
  let fixture: Fixture;
  let mails: Awaited<ReturnType<Fixture["mailService"]>>;
  let server: RunningServer;
  let page: { status: number };

  const jobs = () =>
    fixture.query(
      `select state::text, retry_count, start_after > now() + interval '5 s' as later from pgboss.job
       where data = '{"task": "mail_password_reset", "email": "ada@example.com", "language": "en"}'`,
    );

  beforeAll(async () => {
    fixture = await createFixture();
    mails = await fixture.mailService(behaviour);
    server = await fixture.server(mails.settings);
    await fixture.addAccount("ada@example.com");
    page = await new Visitor(server.url).askForReset();
    await server.waitFor(/A job failed and will be retried/);
    await until(async () => (await jobs())[0]?.state === "retry", "the job is queued for a retry");
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("does not delay the page", { tags: "16.5.2" }, () => {
    expect(page).toMatchObject({ status: 200 });
  });

  test("leaves no address in the log", { tags: "16.5.2" }, () => {
    expect(server.output()).not.toContain("ada@example.com");
  });

  test("gets the mail from a retry", { tags: "16.5.2" }, async () => {
    expect(await jobs()).toEqual([{ state: "retry", retry_count: 0, later: true }]);
    expect(mails.mails).toEqual([]);
    expect(server.output()).not.toMatch(/"event":"password_reset.sent"/);

    mails.setBehaviour({ kind: "accept" });
    await fixture.query("update pgboss.job set start_after = now() where state = 'retry'");
    await mails.when(() => mails.mails.length === 1);
    expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
    await server.waitFor(/"event":"password_reset.sent"/);
    await until(async () => (await jobs()).length === 0, "the job is done");
  });
});
