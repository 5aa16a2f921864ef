import { beforeEach, expect, test } from "vitest";
import { resumeToken } from "#server/features/application/access-tokens";
import { endEverySession, suspendUser } from "#server/features/operator/user-access";
import { makeOwnToken, removeToken } from "#server/features/owner/access-tokens";
import { accessTokens, app, tokenForm } from "../support/access-tokens";
import { owner } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

const latchkey = startLatchkey(accessTokens);

let userId: string;
let ada: ReturnType<typeof owner>;

beforeEach(async () => {
  userId = await latchkey.createUser();
  await latchkey.signedIn(userId);
  const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
  ada = owner(userId, id);
});

async function made(): Promise<string> {
  const outcome = await makeOwnToken(ada, tokenForm);
  if (typeof outcome === "string" || !("token" in outcome)) throw new Error("No token was made.");
  return outcome.token;
}

const idOf = async () => (await latchkey.execute<{ id: string }>("select id from access_tokens"))[0]?.id ?? "";
const times = <T>(count: number, work: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => work(index));

test("of twenty-five that are made at once, twenty are", async () => {
  const outcomes = await Promise.all(times(25, () => makeOwnToken(ada, tokenForm)));
  expect(outcomes.filter((outcome) => outcome === "too_many")).toHaveLength(5);
  expect(await latchkey.execute("select id from access_tokens")).toHaveLength(20);
});

test("a form that is sent twice at once makes one", async () => {
  const id = crypto.randomUUID();
  const outcomes = await Promise.all(times(4, () => makeOwnToken(ada, tokenForm, id)));
  expect(outcomes.filter((outcome) => outcome === "made_already")).toHaveLength(3);
  expect(await latchkey.execute("select id from access_tokens")).toHaveLength(1);
});

test.each<[string, () => Promise<unknown>]>([
  ["removed", async () => removeToken(ada, await idOf())],
  ["ended by a suspension", () => suspendUser(userId)],
  ["ended with every session", () => endEverySession()],
])("a token that is used while it is %s is refused from then on", async (_, end) => {
  const token = await made();
  const uses = times(20, () => resumeToken(token, app));
  const ending = end();
  uses.push(...times(20, () => resumeToken(token, app)));
  for (const use of await Promise.all(uses)) expect(use === null || use.id === userId).toBe(true);
  await ending;
  expect(await Promise.all(times(20, () => resumeToken(token, app)))).toEqual(Array(20).fill(null));
});

test("a token whose first use waits for its removal is refused", async () => {
  const token = await made();
  const em = latchkey.em();
  await em.begin();
  await em.execute("delete from access_tokens");
  const use = resumeToken(token, app); // reads the row, and waits to write the time of its use
  const waiting =
    "select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await latchkey.execute<{ count: number }>(waiting))[0]?.count === 1, "the use waits");
  await em.commit();
  expect(await use).toBeNull();
});

test("no token is made for an account while it is suspended", async () => {
  await Promise.all([suspendUser(userId), ...times(5, () => makeOwnToken(ada, tokenForm))]);
  expect(await latchkey.execute("select id from access_tokens")).toEqual([]);
});

test("tokens are made and ended for many accounts at once without a deadlock", async () => {
  const users = await Promise.all(times(6, (n) => latchkey.createUser({ email: `user-${n}@example.com` })));
  const operator = users.map((id) => ({ user: { id }, sessionId: null }));
  const work = operator.flatMap((actor) => times(4, () => () => makeOwnToken(actor, tokenForm)));
  await Promise.all([...work.map((run) => run()), endEverySession(), ...users.map(suspendUser), endEverySession()]);
  expect(await latchkey.execute("select id from access_tokens")).toEqual([]);
});
