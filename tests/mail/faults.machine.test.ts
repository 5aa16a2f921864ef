import { expect, test } from "vitest";
import { createFixtures } from "../support/fixture";
import type { MailServiceBehaviour } from "../support/mail-service";
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

for (const [name, behaviour] of faults) {
  test(`a mail service that answers ${name} delays the mail but not the page, and the mail is sent by a retry`, {
    tags: "16.5.2",
  }, async () => {
    await using fixture = await createFixture();
    const mails = await fixture.mailService(behaviour);
    const server = await fixture.server(mails.settings);
    await fixture.addAccount("ada@example.com");

    expect(await new Visitor(server.url).askForReset()).toMatchObject({ status: 200 });
    const jobs = `select state::text, retry_count, start_after > now() + interval '5 s' as later from pgboss.job
                  where data = '{"task": "mail_password_reset", "email": "ada@example.com", "language": "en"}'`;
    await server.waitFor(/A job failed and will be retried/);
    const retried = async () => (await fixture.query(jobs))[0]?.state === "retry";
    await until(retried, "the job is queued for a retry");
    expect(await fixture.query(jobs)).toEqual([{ state: "retry", retry_count: 0, later: true }]);
    expect(mails.mails).toEqual([]);
    expect(server.output()).not.toContain("ada@example.com");
    expect(server.output()).not.toMatch(/"event":"password_reset.sent"/);

    mails.setBehaviour({ kind: "accept" });
    await fixture.query("update pgboss.job set start_after = now() where state = 'retry'");
    await mails.when(() => mails.mails.length === 1);
    expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
    await server.waitFor(/"event":"password_reset.sent"/);
    await until(async () => (await fixture.query(jobs)).length === 0, "the job is done");
  });
}
