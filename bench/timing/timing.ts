import { parseArgs } from "node:util";
import { hash as hashWithBcrypt } from "@node-rs/bcrypt";
import { Argon2id } from "oslo/password";
import { log } from "#server/log";
import { type Compare, startTable, type Times } from "./comparison";
import { runQueueCases } from "./queue";
import { addAccounts, addSession, countJobs, deviceTokenOf, newAddresses, sessionTokenOf } from "./seed";
import { inRandomOrder, type Service, startService } from "./service";

// Tests that neither the time of an answer nor that of a mail reveals whether an address has an account: OWASP ASVS 5.0,
// 6.3.8.

log.level = "warn";

const { values } = parseArgs({
  options: {
    samples: { type: "string", default: "2000" },
    probes: { type: "string", default: "200" },
    only: { type: "string" },
  },
});
const samples = Number(values.samples);

interface Case {
  name: string;
  path: "/dashboard" | "/forgot-password" | "/register" | "/login";
  status: number;
  fields?: Record<string, string>;
  cookie?: string;
  mailsNobody?: true;
}

const login = { path: "/login", status: 422, fields: { password: "not the password" } } as const;
const forgotPassword: Case = { name: "POST /forgot-password", path: "/forgot-password", status: 200 };
const ownAddress = "own@example.com"; // The account of the client that sends the requests, for its cookies.

const cases: Case[] = [
  {
    name: "POST /dashboard, change-email",
    path: "/dashboard",
    status: 200,
    fields: { intent: "change-email" },
    cookie: `session=${sessionTokenOf(ownAddress)}`,
  },
  forgotPassword,
  { name: "POST /register", path: "/register", status: 200 },
  { name: "POST /login", ...login },
  { name: "POST /login, a device of another account", ...login, cookie: `device=${deviceTokenOf(ownAddress)}` },
];

/** Posts each pair of a known and an unknown address, in random order, one request at a time; times in ms. */
async function measure(service: Service, { path, status, fields, cookie }: Case, known: string[]): Promise<Times> {
  const times: Times = { known: [], unknown: [] };
  const unknown = newAddresses(known.length);
  const post = async (kind: "known" | "unknown", email: string) => {
    const answer = await service.post(path, { email, ...fields }, cookie);
    if (answer.status !== status) throw new Error(`POST ${path} answered ${answer.status}, not ${status}`);
    times[kind].push(answer.milliseconds);
  };
  for (const [index, email] of known.entries()) {
    await inRandomOrder([() => post("known", email), () => post("unknown", unknown[index] ?? "")]);
  }
  return times;
}

async function runCases(
  behaviour: "accept" | "no_answer",
  compare: Compare,
  cases: Case[],
  passwordHash?: string,
  suspendedAt?: Date,
): Promise<boolean> {
  const warmUp = newAddresses(30 * cases.length);
  const accounts = Array.from({ length: cases.length * 3 }, () => newAddresses(samples));
  const service = await startService(seed, { behaviour: { kind: behaviour } });
  const { databaseUrl, mailService, server } = service;
  async function seed(url: string): Promise<void> {
    await addAccounts(url, [...warmUp, ...accounts.flat()], passwordHash, suspendedAt);
    await addAccounts(url, [ownAddress]);
    await addSession(url, ownAddress);
  }
  try {
    let passed = true;
    const mailed: string[] = [];
    for (const one of cases) {
      await measure(service, one, warmUp.splice(0, 30));
      const takeKnown = () => {
        const known = accounts.pop() ?? [];
        if (one.path !== "/login" && !one.mailsNobody) mailed.push(...known);
        return known;
      };
      const label = `${one.name} | ${behaviour === "accept" ? "answers" : "stalls"}`;
      passed = (await compare(label, () => measure(service, one, takeKnown()))) && passed;
    }
    if (/throttled/.test(server.output())) throw new Error("A request was throttled.");
    if (behaviour === "accept") {
      const arrived = () => new Set(mailService.mails.map(({ to }) => to));
      await mailService.when(() => mailed.every((email) => arrived().has(email)));
    } else {
      await server.stop();
      const jobs = await countJobs(databaseUrl, mailed);
      if (jobs !== mailed.length) throw new Error(`${mailed.length} known addresses left ${jobs} jobs`);
    }
    return passed;
  } finally {
    await service.end();
  }
}

async function runAnswerCases(): Promise<boolean> {
  const compare = startTable("Request | Mail provider");
  const password = "correct horse battery staple";
  const halfMemory = await new Argon2id({ memorySize: 9_728, iterations: 2, parallelism: 1 }).hash(password);
  const bcrypt = await hashWithBcrypt(password, 10);
  const known = (what: string): Case[] => [{ name: `POST /login, the known have ${what}`, ...login }];
  const suspended: Case[] = [
    { name: "POST /login, the known are suspended", ...login },
    { ...forgotPassword, name: "POST /forgot-password, the known are suspended", mailsNobody: true },
  ];
  const passed = [
    await runCases("accept", compare, cases),
    await runCases("accept", compare, known("hashes with half the memory"), halfMemory),
    await runCases("accept", compare, known("bcrypt hashes"), bcrypt),
    await runCases("accept", compare, suspended, undefined, new Date()),
    await runCases("no_answer", compare, cases),
  ];
  return passed.every(Boolean);
}

const suites = { answers: runAnswerCases, queue: () => runQueueCases(Number(values.probes)) };
let passed = true;
for (const [name, run] of Object.entries(suites)) {
  if (values.only === undefined || values.only === name) passed = (await run()) && passed;
}
process.exit(passed ? 0 : 1);
