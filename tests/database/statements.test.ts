import { beforeEach, describe, expect, test } from "vitest";
import { issueLink } from "#server/accounts/links/mailed-links";
import { PasswordReset, Registration } from "#server/database/entities";
import { runStatement } from "#server/database/run-statement";
import { indexJobs } from "#server/queue/boss";
import { askForReset, logIn, openAccount, registerWith, resetWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { addPasskey, signInBy } from "../support/passkeys";
import type { Outcome } from "../support/route-calls";
import { type SentStatement, statementsOf } from "../support/statements";

const latchkey = startLatchkey(google, { onNewDatabase: true });

let userId: string;

beforeEach(async () => {
  userId = await latchkey.createUser({ idpId: "1001", idpIssuer: "google" });
});

const email = "ada@example.com";

const callBack = () => signInWithGoogle({ sub: "1001" });

const requests: [string, () => Promise<Outcome>, string | null][] = [
  [
    "POST /forgot-password",
    async () => {
      const sent = await askForReset(email);
      await latchkey.drain();
      return sent;
    },
    null,
  ],
  [
    "POST /reset-password",
    async () => {
      const token = await issueLink(latchkey.em(), PasswordReset, email);
      return resetWith({ email, token }, "quiet lamps over the harbour");
    },
    "/login?notice=password_reset",
  ],
  ["GET /auth/idp/callback", callBack, "/dashboard"],
  [
    "a sign-in with a passkey",
    async () => {
      const authenticator = new Authenticator();
      await addPasskey(authenticator, await latchkey.signedIn(userId));
      return signInBy(authenticator);
    },
    "/dashboard",
  ],
  ["GET /dashboard", async () => openAccount(await latchkey.signedIn(userId)), null],
  ["POST /login", () => logIn(), "/dashboard"],
];

interface Plan {
  "Node Type": string;
  "Index Name"?: string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: Plan[];
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

/** The plan with sequential scans disabled: PostgreSQL then uses one only where no index fits. */
function explain({ text, values }: SentStatement): Promise<Plan[]> {
  return latchkey.em().transactional(async (em) => {
    await em.execute("set local enable_seqscan = off");
    const statement = { text: `explain (format json) ${text}`, values };
    const [row] = await runStatement<{ "QUERY PLAN": [{ Plan: Plan }] }>(em.getTransactionContext()!, statement);
    return nodes(row!["QUERY PLAN"][0].Plan);
  });
}

test.each(requests)("no statement of %s makes a sequential scan", async (_name, send, location) => {
  let outcome: Outcome | undefined;
  const statements = await statementsOf(async () => {
    outcome = await send();
  });
  expect(outcome).toMatchObject({ status: location ? 302 : 200, location });
  expect(statements).not.toEqual([]);
  for (const statement of statements) {
    for (const node of await explain(statement)) {
      if (node["Relation Name"] === "queue") continue; // pg-boss's list of the two queues
      const scan = { statement: statement.text, ...node };
      expect(scan).not.toMatchObject({ "Node Type": "Seq Scan" });
      if (/^(?:Index|Bitmap Index)/.test(node["Node Type"])) expect(scan).toHaveProperty("Index Cond");
    }
  }
});

test("the sign-in of a returning user is two statements in a transaction", async () => {
  const statements = await statementsOf(callBack);
  expect(statements.map(({ text }) => /^\s*(\w+)|$/.exec(text)?.[1])).toEqual(["select", "with"]);
});

/** As many as in the releases without a history. */
const counted: [string, () => Promise<() => Promise<Outcome>>, number][] = [
  ["a password's sign-in", async () => () => logIn(), 10],
  [
    "a passkey's sign-in",
    async () => {
      const authenticator = new Authenticator();
      await addPasskey(authenticator, await latchkey.signedIn(userId));
      return () => signInBy(authenticator);
    },
    14,
  ],
  ["a returning user's sign-in at the provider", async () => callBack, 2],
  [
    "a sign-in at the provider that is linked by its address",
    async () => {
      await latchkey.execute("update users set idp_id = null, idp_issuer = null");
      return () => signInWithGoogle({ sub: "1001", email, email_verified: true });
    },
    9,
  ],
  [
    "a new user's sign-in at the provider",
    async () => () => signInWithGoogle({ sub: "2", email: "new@example.com", email_verified: true }),
    7, // one looks for an invitation
  ],
  [
    "a reset",
    async () => {
      const token = await issueLink(latchkey.em(), PasswordReset, email);
      return () => resetWith({ email, token }, "quiet lamps over the harbour");
    },
    14,
  ],
  [
    "a registration",
    async () => {
      const link = {
        email: "grace@example.com",
        token: await issueLink(latchkey.em(), Registration, "grace@example.com"),
      };
      return () => registerWith(link, "quiet lamps over the harbour");
    },
    10, // one looks for an invitation
  ],
];

test.each(counted)("%s sends no statement more for the history", async (_name, prepare, count) => {
  const send = await prepare();
  let outcome: Outcome | undefined;
  const statements = await statementsOf(async () => {
    outcome = await send();
  });
  expect(outcome?.location).toMatch(/^\/(?:dashboard|login\?notice=password_reset)$/);
  expect(statements).toHaveLength(count);
});

const addJobs = `insert into pgboss.job (name, data, start_after)
  select 'latchkey', '{}', now() + case when n % 2 = 0 then interval '1 hour' else interval '-1 hour' end
  from generate_series(1, 2000) n`;

test("the next of many waiting jobs is found by an index", async () => {
  const sent = await statementsOf(() => latchkey.drain());
  const fetch = sent.find(({ text }) => /from pgboss\.job[\s\S]*for update skip locked/i.test(text))!;
  await latchkey.execute(addJobs);
  await latchkey.execute("analyze pgboss.job");
  const locking = (await explain(fetch)).find((node) => node["Node Type"] === "LockRows");
  expect(locking?.Plans).toMatchObject([{ "Node Type": "Index Scan", "Index Name": "job_waiting_index" }]);
});

describe("an index of the jobs", () => {
  const names = ["job_waiting_index", "job_order_index"];
  const index = () => Promise.all(names.map((name) => latchkey.execute("select ?::regclass::oid", [`pgboss.${name}`])));

  test("is made where it is missing", async () => {
    for (const name of names) await latchkey.execute(`drop index pgboss.${name}`);
    await indexJobs(latchkey.em().getKnex());
    expect(await index()).toHaveLength(2);
  });

  test("stays where it is", async () => {
    const made = await index();
    await indexJobs(latchkey.em().getKnex());
    expect(await index()).toEqual(made);
  });
});

test("the plan of a statement without a usable index has a sequential scan", async () => {
  const plan = await explain({ text: "select * from sessions where user_agent = $1", values: ["nobody's"] });
  expect(plan).toContainEqual(expect.objectContaining({ "Node Type": "Seq Scan", "Relation Name": "sessions" }));
});
