import { beforeEach, describe, expect, test, vi } from "vitest";
import { orm } from "#server/database/unit-of-work";
import { DatabaseUnavailable } from "#server/errors";
import { resumeSession } from "#server/features/owner/signed-in";
import { context } from "#server/process/context";
import { startLatchkey } from "../support/latchkey";
import { factsAbout, get } from "../support/route-calls";
import { sha256 } from "../support/sha256";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey({ DEVICE_BOUND_SESSIONS: "on" });

interface Asked {
  token: string;
  boundToken?: string;
  /** The address of the user, or what is answered without one. */
  answer: string | null;
}

const count = 60; // of each kind
const numbers = [...Array(count).keys()];

const live = (n: number): Asked => ({ token: `live ${n}`, answer: `user-${n}@example.com` });
const expired = (n: number): Asked => ({ token: `expired ${n}`, answer: null });
const idle = (n: number): Asked => ({ token: `idle ${n}`, answer: null });
const unknown = (n: number): Asked => ({ token: `unknown ${n}`, answer: null });
const bound = (n: number): Asked => ({
  token: `bound ${n}`,
  boundToken: `bound cookie ${n}`,
  answer: `user-${n}@example.com`,
});
const stolen = (n: number): Asked => ({ ...bound(n), boundToken: `bound cookie ${n + 1}`, answer: "not_bound" });
const malformed = ["%", "\u0000", "'", "{}", "?", "$1", '{"a","b"}', "NULL", "\ud800", "\u00ff", "a".repeat(16_000)];

const addRows = `
  with added as (
    insert into users (id, email, created_at)
    select gen_random_uuid(), 'user-' || n || '@example.com', now() from generate_series(0, ? - 1) n returning id, email),
  kinds (kind, expires, used) as (values ('live', '1 day', '0'), ('bound', '1 day', '0'),
    ('expired', '-1 second', '0'), ('idle', '1 day', '-60 days'))
  insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
  select gen_random_uuid(), encode(sha256((kind || ' ' || substring(email from '[0-9]+'))::bytea), 'hex'), id,
    now(), now() + used::interval, now() + expires::interval
  from added, kinds`;

async function bind(n: number): Promise<void> {
  const cookies = JSON.stringify([{ hash: sha256(`bound cookie ${n}`), until: Date.now() + 600_000 }]);
  await latchkey.execute(
    `insert into session_bindings (id, session_id, offered_until, challenges, cookies, bound_from)
     select ?, id, now(), '[]', ?, now() - interval '1 minute' from sessions where token_hash = ?`,
    [`binding ${n}`, cookies, sha256(`bound ${n}`)],
  );
}

beforeEach(async () => {
  await latchkey.execute(addRows, [count]);
  for (const n of numbers) await bind(n);
});

async function answerTo({ token, boundToken }: Asked): Promise<string | null> {
  const signedIn = await resumeSession(token, boundToken ?? null);
  return signedIn === null || signedIn === "not_bound" ? signedIn : signedIn.user.email;
}

const answersTo = (asked: Asked[]) => Promise.all(asked.map(answerTo));

/** In the context of its request, as the front door runs it. */
const asRequest = (asked: Asked) => context.run(factsAbout(get("/auth/session")), () => answerTo(asked));

test("hundreds of simultaneous requests get the session of their own token each", async () => {
  const each = numbers.flatMap((n) => [live(n), expired(n), bound(n), unknown(n), stolen(n), idle(n), live(n)]);
  const asked = [...each, ...malformed.map((token) => ({ token, boundToken: token, answer: null })), ...each.reverse()];
  expect(asked.length).toBeGreaterThan(800);
  expect(await answersTo(asked)).toEqual(asked.map(({ answer }) => answer));
});

test("a hundred simultaneous requests are one statement", async () => {
  const asked = numbers.flatMap((n) => [live(n), unknown(n)]).slice(0, 100);
  expect(await statementsOf(() => answersTo(asked))).toHaveLength(1);
});

test("one more is a second statement", async () => {
  const asked = numbers.flatMap((n) => [live(n), unknown(n)]).slice(0, 101);
  expect(await statementsOf(() => answersTo(asked))).toHaveLength(2);
});

test("a session that ended before a request came is nobody's beside a request that came before", async () => {
  const early = answersTo([live(0), live(1)]);
  expect(await early).toEqual([live(0).answer, live(1).answer]);
  await latchkey.execute("delete from sessions where token_hash = ?", [sha256(live(0).token)]);
  expect(await answersTo([live(0), live(1)])).toEqual([null, live(1).answer]);
});

test("a bound session counts by its session cookie alone while DEVICE_BOUND_SESSIONS is off", async () => {
  latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
  expect(await answersTo([stolen(0), live(1)])).toEqual([bound(0).answer, live(1).answer]);
});

describe("a stored binding that cannot be read", () => {
  beforeEach(async () => {
    await latchkey.execute(`update session_bindings set cookies = '"broken"' where id = 'binding 7'`);
  });

  test("fails the requests of its own session alone", async () => {
    const asked = numbers.flatMap((n) => [bound(n), live(n)]);
    const settled = await Promise.allSettled(asked.map(answerTo));
    const failed = settled.flatMap(({ status }, index) => (status === "rejected" ? [asked[index]?.token] : []));
    expect(failed).toEqual([bound(7).token]);
    const answers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(answers).toEqual(asked.filter(({ token }) => token !== bound(7).token).map(({ answer }) => answer));
  });

  test("fails a request with the error that it has alone", async () => {
    const alone = await answerTo(bound(7)).catch((error: unknown) => error);
    expect(alone).toBeInstanceOf(TypeError);
    const [beside] = await Promise.all([answerTo(bound(7)).catch((error: unknown) => error), answerTo(live(7))]);
    expect(beside).toEqual(alone);
  });
});

describe("while the database cannot be reached", () => {
  beforeEach(() => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    vi.spyOn(orm().em.getKnex().client, "acquireConnection").mockRejectedValue(refused);
  });

  test("each request gets DatabaseUnavailable", async () => {
    const settled = await Promise.allSettled(numbers.map((n) => asRequest(live(n))));
    for (const one of settled) expect(one).toMatchObject({ reason: expect.any(DatabaseUnavailable) });
  });

  test("the log has a line of each request, and none of the shared statement", async () => {
    await Promise.allSettled(numbers.map((n) => asRequest(live(n))));
    const lines = latchkey.logLines().map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(Array(count).fill("The database is not available."));
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(count);
  });
});

test("what a request does with its session names the request", async () => {
  await asRequest(stolen(0));
  const [refused] = latchkey.logLines().map((line) => JSON.parse(line));
  expect(refused).toMatchObject({ event: "session.refused", requestId: expect.any(String) });
});
