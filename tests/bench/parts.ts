import http from "node:http";
import * as z from "zod";
import { issueLink } from "#server/accounts/mailed-links";
import { hashPassword } from "#server/accounts/password-hashing";
import { createUser } from "#server/accounts/users";
import { PasswordReset, User } from "#server/database/entities";
import { openDatabase } from "#server/database/orm";
import { prepared, provideOrm, query, unitOfWork } from "#server/database/unit-of-work";
import { prepareSchema } from "#server/features/schema.server";
import { callJson } from "#server/http/json-client";
import { enqueue, handleNoJob, JobQueue, provideQueue } from "#server/queue/job-queue";
import { configure } from "../support/configure";
import { createEmptyDatabase } from "../support/server";
import { startProgram } from "./processes";

const concurrency = 8;
const email = "ada@bench.example";
const mail = { To: email, Subject: "x".repeat(40), TextBody: "x".repeat(600), HtmlBody: "x".repeat(4_000) };

interface Part {
  what: string;
  count: number;
  run(): Promise<unknown>;
}

function callByHttp(url: string, agent: http.Agent): Promise<unknown> {
  const body = JSON.stringify(mail);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers }, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      resolve(JSON.parse(text));
    });
    request.once("error", reject).end(body);
  });
}

const partsOf = (mailUrl: string, agent: http.Agent): Part[] => [
  {
    what: "a row read by a prepared statement",
    count: 4_000,
    run: () => prepared("part", "select * from users where email = ?", [email]),
  },
  {
    what: "a row read by MikroORM",
    count: 4_000,
    run: () => query((em) => em.findOne(User, { email })),
  },
  {
    what: "a row inserted by MikroORM",
    count: 4_000,
    run: () => query((em) => issueLink(em, PasswordReset, email)),
  },
  {
    what: "a transaction of MikroORM, empty",
    count: 4_000,
    run: () => unitOfWork(async () => {}),
  },
  {
    what: "a job enqueued by pg-boss",
    count: 4_000,
    run: () => query((em) => enqueue(em, { task: "mail_password_changed", email, language: "en" })),
  },
  {
    what: "a mail handed over by ky",
    count: 4_000,
    run: () => callJson(mailUrl, { method: "POST", json: mail }, z.object({ ErrorCode: z.number() })),
  },
  {
    what: "a mail handed over by node:http",
    count: 4_000,
    run: () => callByHttp(mailUrl, agent),
  },
  {
    what: "an Argon2id hash",
    count: 200,
    run: () => hashPassword("a password for the bench"),
  },
];

/** Milliseconds of CPU of this process for one run. */
async function cpuOf({ count, run }: Part): Promise<number> {
  const before = process.cpuUsage();
  const runMany = async () => {
    for (let index = 0; index < count / concurrency; index++) await run();
  };
  await Promise.all(Array.from({ length: concurrency }, runMany));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}

/** The milliseconds of CPU of each part, alone in this process, in every round. The first round is a warm-up. */
export async function measureParts(rounds: number): Promise<Record<string, number[]>> {
  configure({});
  const { url, drop } = await createEmptyDatabase();
  const database = await openDatabase(url);
  const queue = new JobQueue(database.orm, handleNoJob);
  await prepareSchema(database, queue);
  provideOrm(database.orm);
  provideQueue(queue);
  await query((em) => createUser(em, { email, passwordHash: "x" }));
  const provider = await startProgram(["--import", "tsx", "tests/bench/provider.ts"], {}, /listens/);
  const agent = new http.Agent({ keepAlive: true });
  const measured: Record<string, number[]> = {};
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const part of partsOf(`${provider.url}/email`, agent)) {
        const cpu = await cpuOf(part);
        if (round > 0) measured[part.what] = [...(measured[part.what] ?? []), cpu];
      }
    }
  } finally {
    agent.destroy();
    await queue.stop();
    await database.close();
    await provider.stop();
    await drop();
  }
  return measured;
}
