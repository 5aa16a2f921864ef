import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createFixtures, type Fixture } from "../support/fixture";
import { createEmptyDatabase } from "../support/server";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

test("a mail that was queued or in flight at kill -9 is sent within two minutes of the next start", async () => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService({ kind: "no_answer" });
  const emails = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}@example.com`);
  const first = await fixture.server(mails.settings);
  for (const email of emails) await fixture.addAccount(email);
  for (const email of emails) expect(await new Visitor(first.url).askForReset(email)).toMatchObject({ status: 200 });
  await mails.when(() => mails.attempts() === 4);
  await first.kill();
  // The four whose mail call was in flight are active. The others wait, or were in the database when the process died.
  const states = await fixture.query<{ state: string }>(
    "select state::text from pgboss.job where data->>'email' is not null order by 1",
  );
  expect(states.slice(0, 4)).toEqual(Array(4).fill({ state: "active" }));
  expect(states.slice(4).map(({ state }) => state)).toSatisfy(
    (rest: string[]) => rest.length === 2 && rest.every((state) => state === "active" || state === "created"),
  );

  mails.setBehaviour({ kind: "accept" });
  const before = mails.mails.length;
  const second = await fixture.server(mails.settings);
  await mails.when(() => new Set(mails.mails.slice(before).map(({ to }) => to)).size === emails.length);
  const last = mails.mails.findLast(({ to }) => to === "a@example.com");
  const reset = await new Visitor(second.url).reset({ email: "a@example.com", token: last?.token ?? "" });
  expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
}, 150_000);

test("on the embedded database, a mail that was in flight at kill -9 is sent within half a minute", async () => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService({ kind: "no_answer" });
  const database = await createEmptyDatabase("embedded");
  onTestFinished(database.drop);
  const settings = { ...mails.settings, DATABASE_URL: database.url, DATABASE_DIRECT_URL: "" };
  const first = await fixture.server(settings);
  await new Visitor(first.url).post("/register", { email: "a@example.com" });
  await mails.when(() => mails.attempts() === 1);
  await first.kill();
  mails.setBehaviour({ kind: "accept" });
  await fixture.server(settings);
  await mails.when(() => mails.mails.length > 0);
}, 30_000);

describe("kill -9 during simultaneous resets", () => {
  let fixture: Fixture;
  const links: { email: string; token: string }[] = [];
  let states: { changed: boolean; tokens: number; sessions: number }[];

  beforeAll(async () => {
    fixture = await createFixture();
    const server = await fixture.server();
    const emails = Array.from({ length: 40 }, (_, n) => `user${n}@example.com`);
    for (const email of emails) {
      const id = await fixture.addAccount(email);
      const token = await fixture.addResetToken(email);
      const session =
        "insert into sessions values (gen_random_uuid(), $1, $2, null, now(), now(), now() + interval '1 day')";
      await fixture.query(session, [token, id]);
      links.push({ email, token });
    }
    const [old] = await fixture.query<{ password_hash: string }>("select password_hash from users limit 1");

    const all = links.map((link) => new Visitor(server.url).reset(link));
    const settled = Promise.allSettled(all);
    await Promise.race(all);
    await server.kill();
    await settled;
    await fixture.rolledBack();

    states = await fixture.query(
      `select password_hash <> $1 as changed,
         (select count(*)::int from password_resets r where r.email = u.email) as tokens,
         (select count(*)::int from sessions s where s.user_id = u.id) as sessions
       from users u`,
      [old?.password_hash],
    );
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("leaves each one complete or without effect", { tags: "2.3.3" }, () => {
    const done = { changed: true, tokens: 0, sessions: 0 };
    const notBegun = { changed: false, tokens: 1, sessions: 1 };
    for (const state of states) expect([done, notBegun]).toContainEqual(state);
    expect(states).toContainEqual(done);
    expect(states).toContainEqual(notBegun);
  });

  test("leaves links that work", { tags: "2.3.3" }, async () => {
    const { url } = await fixture.server();
    const left = await fixture.query<{ email: string }>("select email from password_resets");
    expect(left).not.toEqual([]);
    for (const { email } of left) {
      const reset = await new Visitor(url).reset(links.find((link) => link.email === email)!);
      expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
    }
  });
});

describe("kill -9 in the middle of a link", () => {
  let fixture: Fixture;
  let provider: Awaited<ReturnType<Fixture["provider"]>>;
  let before: Record<string, unknown[]>;

  beforeAll(async () => {
    fixture = await createFixture();
    provider = await fixture.provider();
    const first = await fixture.server(provider.settings.google);
    await fixture.addAccount("ada@example.com");

    // An uncommitted user with the same id at the provider stalls the link at its last statement.
    const sameId =
      "insert into users (id, email, idp_id, idp_issuer, created_at) values (gen_random_uuid(), 'eve@example.com', 'ada-at-the-provider', 'google', now())";
    before = await fixture.snapshot();
    const lock = await fixture.transaction(sameId);
    const answer = new Visitor(first.url).signInExternally().catch((error: Error) => error);
    await fixture.blocked();
    await first.kill();
    expect(await answer).toBeInstanceOf(Error);
    await lock.query("rollback");
    await fixture.rolledBack();
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("changes nothing", async () => {
    expect(await fixture.snapshot()).toEqual(before);
  });

  test("does not prevent the next sign-in from linking", async () => {
    const second = await fixture.server(provider.settings.google);
    expect(await new Visitor(second.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
    expect(await fixture.query("select email, idp_id from users")).toEqual([
      { email: "ada@example.com", idp_id: "ada-at-the-provider" },
    ]);
  });
});
