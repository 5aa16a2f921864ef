import { expect, test } from "vitest";
import type { MailServiceBehaviour } from "../support/mail-service";
import { until } from "../support/until";
import { forgetPassword, stageFaults } from "./stage";

const { stage } = stageFaults();

const faults: [string, MailServiceBehaviour][] = [
  ["500", { kind: "answer", status: 500, body: '{"ErrorCode":500}' }],
  ["429", { kind: "answer", status: 429, body: '{"ErrorCode":429}' }],
  ["garbage", { kind: "answer", status: 200, body: "<html>Mail sent!</html>" }],
  ["a refusal with status 200", { kind: "answer", status: 200, body: '{"ErrorCode":406,"Message":"Inactive"}' }],
  ["an ended connection", { kind: "hang_up" }],
  ["nothing", { kind: "silence" }],
];

for (const [name, behaviour] of faults) {
  test(`a mail service that answers ${name} delays the mail, and neither the page nor anything else`, async () => {
    await using scene = await stage();
    const mails = await scene.mailService(behaviour);
    const server = await scene.server(mails.settings);
    await scene.addAccount("ada@example.com");

    expect(await forgetPassword(server.url)).toMatchObject({ status: 200 });
    const jobs = `select state::text, retry_count, start_after > now() + interval '5 s' as later from pgboss.job
                  where data = '{"task": "mail_password_reset", "email": "ada@example.com"}'`;
    const retried = async () => (await scene.query(jobs))[0]?.state === "retry";
    await until(retried, "the job is put back");
    expect(await scene.query(jobs)).toEqual([{ state: "retry", retry_count: 0, later: true }]);
    expect(mails.mails).toEqual([]);
    expect(server.output()).not.toContain("ada@example.com");
    expect(server.output()).not.toMatch(/"event":"password_reset.sent"/);

    mails.behave({ kind: "accept" });
    await scene.query("update pgboss.job set start_after = now() where state = 'retry'");
    await mails.when(() => mails.mails.length === 1);
    expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
    await server.waitFor(/"event":"password_reset.sent"/);
    await until(async () => (await scene.query(jobs)).length === 0, "the job is done");
  });
}
