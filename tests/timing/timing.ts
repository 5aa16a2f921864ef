import { parseArgs } from "node:util";
import { Argon2id } from "oslo/password";
import { openDatabase } from "#server/database/orm";
import { log } from "#server/log";
import { type MailService, startMailService } from "../support/mail-service";
import { createEmptyDatabase, type RunningServer, startServer } from "../support/server";
import { HttpClient } from "./http-client";
import { type Judge, judgeIn, type Times } from "./judge";
import { runQueueCases } from "./queue";
import { addAccounts, deviceTokenOf, newAddresses } from "./seed";

// Whether the time of an answer, or of a mail to another address, tells if an address has an account: OWASP ASVS 5.0,
// 6.3.8.

log.level = "warn";

const { samples, probes, alternate, only } = readArguments();

function readArguments() {
  const { values } = parseArgs({
    options: {
      samples: { type: "string", default: "2000" },
      probes: { type: "string", default: "200" },
      alternate: { type: "boolean", default: false },
      only: { type: "string" },
    },
  });
  return { ...values, samples: Number(values.samples), probes: Number(values.probes) };
}

interface Case {
  name: string;
  path: "/forgot-password" | "/register" | "/login";
  status: number;
  cookie?: string;
}

const login = { path: "/login", status: 422 } as const;
const asker = "asker@example.com"; // an account of whoever asks, for its device

const cases: Case[] = [
  { name: "POST /forgot-password", path: "/forgot-password", status: 200 },
  { name: "POST /register", path: "/register", status: 200 },
  { name: "POST /login", ...login },
  { name: "POST /login, a device of another account", ...login, cookie: `device=${deviceTokenOf(asker)}` },
];

const withOldHashes: Case[] = [{ name: "POST /login, the known have hashes with half the memory", ...login }];

class Failure extends Error {}

/** Posts each pair of a known and an unknown address, in random order, one request at a time; times in ms. */
async function measure(http: HttpClient, { path, status, cookie }: Case, known: string[]): Promise<Times> {
  const times: Times = { known: [], unknown: [] };
  const unknown = newAddresses(known.length);
  const post = async (kind: "known" | "unknown", email: string) => {
    const fields = path === "/login" ? { email, password: "not the password" } : { email };
    const answer = await http.post(path, fields, cookie);
    if (answer.status !== status) throw new Failure(`POST ${path} answered ${answer.status}, not ${status}`);
    times[kind].push(answer.milliseconds);
  };
  for (const [index, email] of known.entries()) {
    const pair = [() => post("known", email), () => post("unknown", unknown[index] ?? "")];
    if (!alternate && Math.random() < 0.5) pair.reverse();
    for (const one of pair) await one();
  }
  return times;
}

function assertUnlimited(server: RunningServer): void {
  if (/throttled/.test(server.output())) throw new Failure("A request met a limit.");
}

async function countJobs(databaseUrl: string, emails: string[]): Promise<number> {
  const database = await openDatabase(databaseUrl);
  try {
    const [row] = await database.orm.em
      .fork()
      .execute<{ count: number }[]>(
        "select count(distinct data->>'email')::int as count from pgboss.job where data->>'email' in (?)",
        [emails],
      );
    return row?.count ?? 0;
  } finally {
    await database.close();
  }
}

/** @param hashed of the password of every known address; by default with the parameters in force */
async function runProvider(
  provider: "answers" | "stalls",
  mailService: MailService,
  judge: Judge,
  cases: Case[],
  hashed?: string,
): Promise<boolean> {
  const database = await createEmptyDatabase();
  const warmUp = newAddresses(30 * cases.length);
  const runs = cases.length * 3;
  const accounts = Array.from({ length: runs }, () => newAddresses(samples));
  await addAccounts(database.url, [...warmUp, ...accounts.flat()], hashed);
  await addAccounts(database.url, [asker]);
  const server = await startServer({ ...mailService.settings, DATABASE_URL: database.url, TRUST_PROXY: "true" });
  const http = new HttpClient(server.port);
  try {
    let sound = true;
    const mailed: string[] = [];
    for (const one of cases) {
      await measure(http, one, warmUp.splice(0, 30));
      const takeKnown = () => {
        const known = accounts.pop() ?? [];
        if (one.path !== "/login") mailed.push(...known);
        return known;
      };
      const label = `${one.name} | ${provider}`;
      sound = (await judge(label, () => measure(http, one, takeKnown()))) && sound;
    }
    assertUnlimited(server);
    if (provider === "answers") {
      const arrived = () => new Set(mailService.mails.map(({ to }) => to));
      await mailService.when(() => mailed.every((email) => arrived().has(email)));
    }
    http.close();
    await server.stop();
    if (provider === "stalls") {
      const jobs = await countJobs(database.url, mailed);
      if (jobs !== mailed.length) throw new Failure(`${mailed.length} known addresses left ${jobs} jobs`);
    }
    return sound;
  } finally {
    await server.kill();
    await database.drop();
  }
}

async function runAnswerCases(): Promise<boolean> {
  const judge = judgeIn("Request | Mail provider");
  let sound = true;
  for (const [provider, kind] of [
    ["answers", "accept"],
    ["stalls", "silence"],
  ] as const) {
    const mailService = await startMailService({ kind });
    sound = (await runProvider(provider, mailService, judge, cases)) && sound;
    if (provider === "answers") {
      const halfMemory = new Argon2id({ memorySize: 9_728, iterations: 2, parallelism: 1 });
      const hashed = await halfMemory.hash("correct horse battery staple");
      sound = (await runProvider(provider, mailService, judge, withOldHashes, hashed)) && sound;
    }
    await mailService.stop();
  }
  return sound;
}

const answers = only === "queue" || (await runAnswerCases());
const queue = only === "answers" || (await runQueueCases(probes));
process.exit(answers && queue ? 0 : 1);
