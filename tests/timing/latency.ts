import { parseArgs } from "node:util";
import { log } from "#server/log";
import { concurrency } from "#server/queue/job-queue";
import type { MailService } from "../support/mail-service";
import type { HttpClient } from "./http-client";
import { quantile } from "./mann-whitney";
import { addAccounts, addJobs, newAddresses } from "./seed";
import { startService } from "./service";

// Measures the time from the first byte of POST /forgot-password until the mail service has read the mail.

const { values } = parseArgs({
  options: { samples: { type: "string", default: "200" }, waiting: { type: "string", default: "1000" } },
});
const samples = Number(values.samples);
const waiting = Number(values.waiting);
const rounds = 5;

log.level = "warn";

async function timeToMail(http: HttpClient, mailService: MailService, email: string): Promise<number> {
  const start = performance.now();
  const [mail] = await Promise.all([mailService.to(email), http.post("/forgot-password", { email })]);
  return mail.at - start;
}

async function idle(): Promise<number[]> {
  const emails = newAddresses(samples);
  const { http, mailService, end } = await startService((url) => addAccounts(url, emails));
  const times: number[] = [];
  for (const email of emails) times.push(await timeToMail(http, mailService, email));
  await end();
  return times;
}

/** The mail service answers the first mails of the backlog only when the measured requests are sent. */
async function behindBacklog(): Promise<number[]> {
  const backlog = newAddresses(waiting);
  const emails = newAddresses(samples / rounds);
  const seed = async (url: string) => {
    await addAccounts(url, [...backlog, ...emails]);
    await addJobs(url, backlog);
  };
  const { http, mailService, end } = await startService(seed, {
    behaviour: { kind: "no_answer" },
    connections: emails.length,
  });
  await mailService.when(() => mailService.attempts() === concurrency);
  mailService.setBehaviour({ kind: "accept" });
  const times = await Promise.all(emails.map((email) => timeToMail(http, mailService, email)));
  await end();
  return times;
}

function row(name: string, times: number[]): string {
  const ms = (q: number) => `${Math.round(quantile(times, q))} ms`;
  return `| ${name} | ${times.length} | ${ms(0.5)} | ${ms(0.99)} |`;
}

const behind: number[] = [];
const alone = await idle();
for (let round = 0; round < rounds; round++) behind.push(...(await behindBacklog()));
process.stdout.write(
  `${["| Queue | Mails | Median | p99 |", "|---|---|---|---|", row("idle", alone), row(`${waiting.toLocaleString("en")} waiting`, behind)].join("\n")}\n`,
);
process.exit(0);
