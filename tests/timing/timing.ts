import { parseArgs } from "node:util";
import { openDatabase } from "#server/database/orm";
import { log } from "#server/log";
import { type MailService, startMailService } from "../support/mail-service";
import { createEmptyDatabase, type RunningServer, startServer } from "../support/server";
import { HttpClient } from "./http-client";
import { type Judge, judgeIn, type Times } from "./judge";
import { runQueueCases } from "./queue";
import { addAccounts, newAddresses } from "./seed";

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
  path: "/forgot-password" | "/register" | "/login";
  status: number;
}

const cases: Case[] = [
  { path: "/forgot-password", status: 200 },
  { path: "/register", status: 200 },
  { path: "/login", status: 422 },
];

class Failure extends Error {}

/** Posts each pair of a known and an unknown address, in random order, one request at a time; times in ms. */
async function measure(http: HttpClient, { path, status }: Case, known: string[]): Promise<Times> {
  const times: Times = { known: [], unknown: [] };
  const unknown = newAddresses(known.length);
  const post = async (kind: "known" | "unknown", email: string) => {
    const fields = path === "/login" ? { email, password: "not the password" } : { email };
    const answer = await http.post(path, fields);
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

async function runProvider(provider: "answers" | "stalls", mailService: MailService, judge: Judge): Promise<boolean> {
  const database = await createEmptyDatabase();
  const warmUp = newAddresses(100);
  const runs = cases.length * 3;
  const accounts = Array.from({ length: runs }, () => newAddresses(samples));
  await addAccounts(database.url, [...warmUp, ...accounts.flat()]);
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
      const label = `POST ${one.path} | ${provider}`;
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
    sound = (await runProvider(provider, mailService, judge)) && sound;
    await mailService.stop();
  }
  return sound;
}

const answers = only === "queue" || (await runAnswerCases());
const queue = only === "answers" || (await runQueueCases(probes));
process.exit(answers && queue ? 0 : 1);
