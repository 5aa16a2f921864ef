import { beforeEach, describe, expect, test } from "vitest";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { logIn, openAccount } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey(google);

async function addSessions(userId: string, count: number, prefix = "old"): Promise<void> {
  await latchkey.execute(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
     select gen_random_uuid(), ? || n, ?, now() - interval '2 hours', now() - interval '1 second' * (?::int - n),
       now() + interval '1 day'
     from generate_series(1, ?::int) n`,
    [prefix, userId, count, count],
  );
}

const tokenHashes = async (userId: string) =>
  (await latchkey.execute<{ token_hash: string }>("select token_hash from sessions where user_id = ?", [userId])).map(
    ({ token_hash }) => token_hash,
  );

test("a fiftieth session ends no other", async () => {
  const ada = await latchkey.createUser();
  await addSessions(ada, 49);
  expect((await logIn()).status).toBe(302);
  expect(await tokenHashes(ada)).toHaveLength(50);
  expect(latchkey.events().filter(({ event }) => event === "session.ended")).toEqual([]);
});

describe("a fifty-first session", () => {
  let ada: string;
  let bob: string;

  beforeEach(async () => {
    [ada, bob] = [await latchkey.createUser(), await latchkey.createUser({ email: "bob@example.com" })];
    await addSessions(bob, 1, "bob");
    await addSessions(ada, 50);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '3 days' where token_hash = 'old17'");
    expect((await logIn()).status).toBe(302);
  });

  test("ends the user's least recently used one alone", async () => {
    const left = await tokenHashes(ada);
    expect(left).toHaveLength(50);
    expect(left).not.toContain("old17");
    expect(left).toContain("old1");
    expect(latchkey.events()).toContainEqual({ event: "session.ended", reason: "too_many" });
  });

  test("ends none of another user", async () => {
    expect(await tokenHashes(bob)).toEqual(["bob1"]);
  });
});

test("an external sign-in has the same limit", { tags: "6.3.4" }, async () => {
  const ada = await latchkey.createUser({ idpId: "1001" });
  await addSessions(ada, 60);
  const profile = { id: "1001", email: null, emailVerified: false, name: null, pictureUrl: null };
  await signInToAccount(unknownVisitor, profile);
  const left = await tokenHashes(ada);
  expect(left).toHaveLength(50);
  for (let at = 1; at <= 11; at++) expect(left).not.toContain(`old${at}`);
});

test("the limit holds by the statistics of an empty table", { tags: "2.3.4" }, async () => {
  await latchkey.execute("analyze sessions"); // PostgreSQL plans for one row then
  const ada = await latchkey.createUser();
  await addSessions(ada, 60);
  expect(await logIn()).toMatchObject({ status: 302 });
  expect(await tokenHashes(ada)).toHaveLength(50);
});

test.each([1, 2, 3])("logins at once leave fifty sessions (round %i)", { tags: "2.3.4" }, async () => {
  const ada = await latchkey.createUser();
  await addSessions(ada, 45);
  const answers = await Promise.all(Array.from({ length: 10 }, () => logIn()));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(302));
  expect(await tokenHashes(ada)).toHaveLength(50);
});

test.each([1, 2, 3])("two users at the limit log in at once in each other's browsers (round %i)", async () => {
  const start = async (email: string) => {
    const id = await latchkey.createUser({ email });
    const cookies: string[] = [];
    for (let at = 0; at < 50; at++) cookies.push(await latchkey.signedIn(id));
    return cookies;
  };
  const [adas, bobs] = [await start("ada@example.com"), await start("bob@example.com")];
  const answers = await Promise.all([
    ...adas.slice(0, 4).map((cookie) => logIn({ email: "bob@example.com", cookie })),
    ...bobs.slice(0, 4).map((cookie) => logIn({ cookie })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(302));
});

test("the account page lists fifty sessions at most", async () => {
  const ada = await latchkey.createUser();
  const cookie = await latchkey.signedIn(ada);
  await addSessions(ada, 6_000);
  expect((await openAccount(cookie)).data.sessions).toHaveLength(50);
});
