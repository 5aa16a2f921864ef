import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { Fixture } from "../support/fixture";
import type { Answer } from "../support/http";
import type { MailService } from "../support/mail-service";
import { newPassword } from "../support/passwords";
import { PostgresCluster } from "../support/postgres-cluster";
import { runs } from "../support/property-runs";
import type { RunningServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const rounds = runs(20);
const simultaneous = 10;
const longestWait = 150_000; // ms for a mail: a job that ran at the kill runs again within two minutes

interface Flow {
  send: () => Promise<Answer>;
  /** Status and location of its answer when it works. */
  works: string;
}

const unknown = () => `${crypto.randomUUID()}@example.com`;

/** Each flow, for a signed-in visitor and another account with {@link goodPassword}; its requests meet no limit. */
const flowsOf = (url: string, signedIn: Visitor, email: string): Record<string, Flow> => ({
  "`/dashboard`": { send: () => signedIn.get("/dashboard"), works: "200" },
  "`/auth/verify`": { send: () => signedIn.get("/auth/verify"), works: "200" },
  "log in": { send: () => new Visitor(url).logIn(email), works: "302 /dashboard" },
  "ask for a link": { send: () => new Visitor(url).askForReset(unknown()), works: "200" },
  "reset, with an unknown link": {
    send: () => new Visitor(url).reset({ email: unknown(), token: "0".repeat(64) }),
    works: "422",
  },
  register: { send: () => new Visitor(url).post("/register", { email: unknown() }), works: "200" },
  "external sign-in": { send: () => new Visitor(url).signInExternally(), works: "302 /dashboard" },
  "`/readyz`": { send: () => new Visitor(url).get("/readyz"), works: "200" },
});

const outcomeOf = ({ status, location }: Answer) => [status, location].filter((part) => part !== null).join(" ");

/** Uses a flow again and again. */
function watch({ send, works }: Flow) {
  const failures = new Set<string>();
  let lastFailure: number | undefined;
  let worksSince: number | undefined;
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      const sent = performance.now();
      const answer = await send();
      if (outcomeOf(answer) === works) {
        if (lastFailure !== undefined && sent > lastFailure) worksSince ??= performance.now();
      } else {
        failures.add(outcomeOf(answer));
        lastFailure = performance.now();
        worksSince = undefined;
      }
    }
  })();
  done.catch(() => {}); // `stop` rejects with it
  return {
    fails: () => failures.size > 0,
    worksAgain: () => worksSince !== undefined,
    async stop() {
      stopped = true;
      await done;
      return { failures: [...failures].sort(), worksSince: worksSince ?? Number.NaN };
    },
  };
}

async function startPair(atEnd: (remove: () => Promise<void>) => void) {
  const primary = await PostgresCluster.start();
  atEnd(() => primary.remove());
  const replica = await primary.startReplica();
  atEnd(() => replica.remove());
  return { primary, replica };
}

const urlOf = (clusters: PostgresCluster[], database = "postgres") =>
  `postgresql://postgres@${clusters.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}?target_session_attrs=read-write`;

async function setSynchronousCommit(primary: PostgresCluster, value: "on" | "off"): Promise<void> {
  await primary.execute(`alter system set synchronous_commit = ${value}`);
  if (value === "on") await primary.execute("alter system set synchronous_standby_names = '*'");
  await primary.execute("select pg_reload_conf()");
  const state = "select sync_state from pg_stat_replication";
  const expected = value === "on" ? "sync" : "async";
  await until(async () => (await primary.execute(state))[0]?.sync_state === expected, `the replica is ${expected}`);
}

async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

/** A reset and a login, each request sent again after a 503. Returns the session, or what was confirmed and is missing. */
async function resetRound(
  url: string,
  mails: MailService,
  email: string,
  isMissing: (email: string) => Promise<boolean>,
): Promise<Visitor | "mail" | "reset"> {
  expect(await untilAnswered(() => new Visitor(url).askForReset(email))).toMatchObject({ status: 200 });
  const mail = () => mails.mails.find(({ to, subject }) => to === email && subject === "Reset your password");
  await until(async () => mail() !== undefined || (await isMissing(email)), `a mail to ${email}`, longestWait);
  if (!mail()) return "mail";
  const reset = await untilAnswered(() => new Visitor(url).reset({ email, token: mail()?.token ?? "" }));
  expect([302, 422]).toContain(reset.status); // 422 after a 503 whose reset was done, or where the link is missing
  const visitor = new Visitor(url);
  const login = await untilAnswered(() => visitor.logIn(email, newPassword));
  expect([302, 422]).toContain(login.status);
  return login.status === 302 ? visitor : "reset";
}

async function inParallel<Result>(items: string[], work: (item: string) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.values();
  const next = async () => {
    for (const item of waiting) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: simultaneous }, next));
  return results;
}

describe.each(["on", "off"] as const)("synchronous_commit=%s: after the promotion of a replica", (synchronous) => {
  const failures: string[] = [];
  const missing: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  let status: Awaited<RunningServer["ended"]>;

  beforeAll(async () => {
    const { primary, replica } = await startPair((remove) => void ends.unshift(remove));
    const url = await primary.createDatabase();
    await using fixture = new Fixture(url);
    const mails = await fixture.mailService();
    const provider = await fixture.provider();
    const database = url.split("/").at(-1) ?? "";
    const DATABASE_URL = urlOf([replica, primary], database);
    const server = await fixture.server({ ...mails.settings, ...provider.settings.google, DATABASE_URL });
    const emails = Array.from({ length: rounds }, (_, n) => `user${n}@example.com`);
    for (const email of ["grace@example.com", "eve@example.com", ...emails]) await fixture.addAccount(email);
    await setSynchronousCommit(primary, synchronous);

    const grace = new Visitor(server.url);
    await grace.logIn("grace@example.com");
    const flows = Object.entries(flowsOf(server.url, grace, "eve@example.com"));
    const watched = flows.map(([name, flow]) => ({ name, ...watch(flow) }));
    let finished = 0;
    let promoted: Fixture | undefined;
    const isMissing = async (email: string) =>
      (await promoted?.query("select from pgboss.job where data->>'email' = $1", [email]))?.length === 0;
    const outcomes = inParallel(emails, async (email) => {
      const outcome = await resetRound(server.url, mails, email, isMissing);
      finished++;
      return outcome;
    });
    await until(() => finished >= rounds / 3, "a third of the rounds is finished", 60_000);

    const killed = performance.now();
    await primary.stop("kill");
    await until(() => watched.every(({ fails }) => fails()), "every flow fails");
    const outage = performance.now() - killed;
    const promotion = performance.now();
    await replica.promote();
    await using afterwards = new Fixture(replica.url(database));
    promoted = afterwards;
    await until(() => watched.every(({ worksAgain }) => worksAgain()), "every flow works again");

    for (const outcome of await outcomes) {
      if (typeof outcome === "string") missing.push(outcome);
      else if ((await outcome.get("/dashboard")).status !== 200) missing.push("session");
    }
    const report = [`| ${Math.round(outage)} ms without a primary | answers | works again after the promotion |`];
    for (const { name, stop } of watched) {
      const { failures: ofFlow, worksSince } = await stop();
      report.push(`| ${name} | ${ofFlow.join(", ")} | ${Math.round(worksSince - promotion)} ms |`);
      failures.push(...ofFlow);
    }
    process.stdout.write(`${report.join("\n")}\nmissing: ${missing.join(", ") || "nothing"}\n`);
    status = await server.stop();
  }, 360_000);

  afterAll(async () => {
    for (const end of ends) await end();
  });

  test("every flow works again without a restart", () => {
    expect(status).toBe(0);
  });

  test("every failure of before was an orderly answer", () => {
    for (const failure of failures) expect(["503", "302 /login?notice=idp_failed"]).toContain(failure);
  });

  if (synchronous === "on") {
    test("nothing that was confirmed is missing", () => {
      expect(missing).toEqual([]);
    });
  } else {
    test("the last moments before it alone may be missing", () => {
      expect(missing.length).toBeLessThan(rounds);
    });
  }
});

test("no host that accepts writes is one message: what each host says", async () => {
  const { primary, replica } = await startPair(onTestFinished);
  await primary.stop("kill");
  await expect(openDatabase(urlOf([primary, replica]))).rejects.toThrow(
    `The database at 127.0.0.1:${primary.port},127.0.0.1:${replica.port}/postgres cannot be used: connect ECONNREFUSED 127.0.0.1:${primary.port}; the server is read-only.`,
  );
});

test("a connection whose server has become read-only is not used again", async () => {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  await using fixture = new Fixture(await cluster.createDatabase());
  const server = await fixture.server();
  await fixture.addAccount("ada@example.com");
  const database = new URL(fixture.databaseUrl).pathname.slice(1);
  await cluster.execute(`alter database ${database} set default_transaction_read_only = on`);
  const others =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname is not null and pid <> pg_backend_pid()";
  await cluster.execute(others);
  const login = () => new Visitor(server.url).logIn();
  await until(async () => (await login()).status === 503, "logins are refused");
  await cluster.execute(`alter database ${database} reset default_transaction_read_only`);
  await until(async () => (await login()).status === 302, "a login works");
});
