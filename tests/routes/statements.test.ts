import { beforeEach, expect, test } from "vitest";
import { issueLink } from "#server/accounts/mailed-links";
import { PasswordReset } from "#server/database/entities";
import { runStatement } from "#server/database/run-statement";
import * as callback from "~/routes/auth.idp_.callback";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as resetPassword from "~/routes/reset-password";
import { createUser, goodPassword, signedIn } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordOutgoingCalls } from "../support/outgoing-calls";
import { call, get, type Outcome, post } from "../support/route-calls";
import { type SentStatement, statementsOf } from "../support/statements";

const latchkey = startLatchkey({
  IDP_CLIENT_ID: "client",
  IDP_CLIENT_SECRET: "secret",
  IDP_AUTHORIZE_URL: "https://idp.example/authorize",
  IDP_TOKEN_URL: "https://idp.example/token",
  IDP_PROFILE_URL: "https://idp.example/profile",
});
const outgoing = recordOutgoingCalls();

let userId: string;

beforeEach(async () => {
  userId = await createUser(latchkey.em(), { idpId: "1001", idpIssuer: "google" });
  await latchkey.drain(); // Ends the purge job, whose statements are not part of a request.
});

const email = "ada@example.com";
const state = "5".repeat(64);

const requests: Record<string, () => Promise<Outcome>> = {
  "POST /forgot-password": async () => {
    const sent = await call(forgotPassword.action, post("/forgot-password", { email }));
    await latchkey.drain();
    return sent;
  },
  "POST /reset-password": async () => {
    const token = await issueLink(latchkey.em(), PasswordReset, email);
    const passwords = {
      password: "quiet lamps over the harbour",
      passwordConfirmation: "quiet lamps over the harbour",
    };
    return call(resetPassword.action, post("/reset-password", { email, token, ...passwords }));
  },
  "GET /auth/idp/callback": async () => {
    const token = { access_token: "token", token_type: "Bearer" };
    outgoing.answer("POST", "https://idp.example/token", { body: JSON.stringify(token) });
    outgoing.answer("GET", "https://idp.example/profile", { body: JSON.stringify({ sub: "1001" }) });
    const back = get(`/auth/idp/callback?code=c&state=${state}`, { cookie: `oauth_state=${state}` });
    return call(callback.loader, back);
  },
  "GET /dashboard": async () => {
    const cookie = await signedIn(latchkey.em(), userId);
    return call(dashboard.loader, get("/dashboard", { cookie }));
  },
  "POST /login": () => call(login.action, post("/login", { email, password: goodPassword })),
};

const succeeds: Record<string, Partial<Outcome>> = {
  "POST /forgot-password": { status: 200 },
  "POST /reset-password": { status: 302, location: "/login?notice=password_reset" },
  "GET /auth/idp/callback": { status: 302, location: "/dashboard" },
  "GET /dashboard": { status: 200 },
  "POST /login": { status: 302, location: "/dashboard" },
};

interface Plan {
  "Node Type": string;
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

test.each(Object.entries(requests))("no statement of %s makes a sequential scan", async (name, send) => {
  let outcome: Outcome | undefined;
  const statements = await statementsOf(async () => {
    outcome = await send();
  });
  expect(outcome).toMatchObject(succeeds[name]!);
  expect(statements).not.toEqual([]);
  for (const statement of statements) {
    for (const node of await explain(statement)) {
      const scan = { statement: statement.text, ...node };
      expect(scan).not.toMatchObject({ "Node Type": "Seq Scan" });
      if (/^(?:Index|Bitmap Index)/.test(node["Node Type"])) expect(scan).toHaveProperty("Index Cond");
    }
  }
});

test("the sign-in of a returning user is two statements in a transaction, and writes nothing to an unchanged account", async () => {
  const statements = await statementsOf(requests["GET /auth/idp/callback"]!);
  expect(statements.map(({ text }) => /^\s*(\w+)|$/.exec(text)?.[1])).toEqual(["select", "with"]);
});

test("the plan of a statement without a usable index has a sequential scan", async () => {
  const plan = await explain({ text: "select * from sessions where user_agent = $1", values: ["nobody's"] });
  expect(plan).toContainEqual(expect.objectContaining({ "Node Type": "Seq Scan", "Relation Name": "sessions" }));
});
