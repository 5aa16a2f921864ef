import type { MailServiceBehaviour } from "../../tests/support/mail-service";
import { startTable, type Times } from "./comparison";
import { addAccounts, newAddresses } from "./seed";
import { inRandomOrder, type Service, startService } from "./service";

// Tests for a timing side channel: an attacker requests mails to another address, then mails to his own. The arrival
// of his mails must not depend on whether the other address has an account.

const requestsForTarget = 5; // the limit of an address
const ownMails = 8;

interface Case {
  name: string;
  mailService: MailServiceBehaviour;
  more?: number;
}

/** A service with this latency, which is the quantity under test. The probes wait for mails, not for the timer. */
const latency = (milliseconds: number, then: MailServiceBehaviour): MailServiceBehaviour => ({
  kind: "late",
  milliseconds,
  then,
});

const cases: Case[] = [
  { name: "answers after 120 ms", mailService: latency(120, { kind: "accept" }) },
  { name: "answers after 250 ms", mailService: latency(250, { kind: "accept" }) },
  { name: "answers after 600 ms", mailService: latency(600, { kind: "accept" }) },
  {
    name: "fails each mail once, after 250 ms",
    mailService: { kind: "first_attempt", behaviour: latency(250, { kind: "answer", status: 500, body: "{}" }) },
  },
  { name: "stalls for a second, queue full", mailService: latency(1_000, { kind: "accept" }), more: 12 },
];

/** @returns the time from the first request to the arrival of the last mail to an own address, in ms */
async function probe({ post, mailService }: Service, target: string, own: string[]): Promise<number> {
  const start = performance.now();
  const requests = Array.from({ length: requestsForTarget }, () => post("/forgot-password", { email: target }));
  for (const email of own) requests.push(post("/register", { email }));
  const arrivals = await Promise.all(own.map((email) => mailService.attempted(email)));
  for (const { status } of await Promise.all(requests)) {
    if (status !== 200) throw new Error(`A request was answered ${status}.`);
  }
  await mailService.when(() => mailService.unanswered() === 0);
  return Math.max(...arrivals.map(({ at }) => at)) - start;
}

export async function runQueueCases(probes: number): Promise<boolean> {
  const compare = startTable("Mail service");
  let passed = true;
  for (const { name, mailService: behaviour, more = 0 } of cases) {
    const accounts = Array.from({ length: 3 }, () => newAddresses(probes / 2));
    const service = await startService((url) => addAccounts(url, accounts.flat()), { behaviour, connections: 4 });
    const run = (target: string) => probe(service, target, newAddresses(ownMails + more));
    const runUnknown = () => run(newAddresses(1)[0]!);
    /** Probes the next accounts and as many unknown addresses. */
    const measure = async () => {
      const times: Times = { known: [], unknown: [] };
      for (let warmUp = 0; warmUp < 5; warmUp++) await runUnknown();
      for (const account of accounts.pop() ?? []) {
        await inRandomOrder([
          async () => times.known.push(await run(account)),
          async () => times.unknown.push(await runUnknown()),
        ]);
      }
      return times;
    };
    try {
      passed = (await compare(name, measure)) && passed;
    } finally {
      await service.end();
    }
  }
  return passed;
}
