import { expect, test } from "vitest";
import { createFixtures } from "../support/fixture";
import type { Answer } from "../support/http";
import { newPassword } from "../support/passwords";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

const expiredRows = 100_000;

const expired = [
  `insert into password_resets select 'expired' || n, 'reset' || n % 200 || '@example.com', now() - n * interval '1 s'
   from generate_series(1, ${expiredRows}) n`,
  `insert into registrations select 'expired' || n, 'login' || n % 200 || '@example.com', now() - n * interval '1 s'
   from generate_series(1, ${expiredRows}) n`,
  `insert into sessions select gen_random_uuid(), 'expired' || n, (select id from users where email = 'login0@example.com'),
   null, now() - interval '30 days', now() - interval '14 days', now() + interval '1 hour'
   from generate_series(1, ${expiredRows}) n`,
  `insert into rate_limits select 'expired' || n, 1, extract(epoch from now())::bigint * 1000 - n
   from generate_series(1, ${expiredRows}) n`,
];

const remains = `select exists (select from password_resets where token_hash like 'expired%')
  or exists (select from registrations) or exists (select from rate_limits where key like 'expired%')
  or exists (select from sessions where token_hash like 'expired%') as rows`;

async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    expect(answer.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
}

test("400 simultaneous resets or logins succeed while 400,000 expired rows are purged", async () => {
  await using fixture = await createFixture();
  expect(await (await fixture.server()).stop()).toBe(0);
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const tokens: string[] = [];
  for (const n of numbers) {
    await fixture.addAccount(`reset${n}@example.com`);
    await fixture.addAccount(`login${n}@example.com`);
    tokens.push(await fixture.addResetToken(`reset${n}@example.com`));
  }
  for (const statement of expired) await fixture.query(statement);

  const server = await fixture.server();
  expect(await fixture.query(remains)).toEqual([{ rows: true }]);
  const resets = numbers.map((n) =>
    untilAnswered(() => new Visitor(server.url).reset({ email: `reset${n}@example.com`, token: tokens[n] ?? "" })),
  );
  const logins = numbers.map((n) => untilAnswered(() => new Visitor(server.url).logIn(`login${n}@example.com`)));
  await Promise.all([...resets, ...logins]);
  for (const reset of await Promise.all(resets)) {
    expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  }
  for (const login of await Promise.all(logins)) expect(login).toMatchObject({ status: 302, location: "/dashboard" });

  await until(async () => (await fixture.query(remains))[0]?.rows === false, "the expired rows are purged", 60_000);
  expect(await fixture.query("select count(*)::int from password_resets")).toEqual([{ count: 0 }]);
  expect(await fixture.query("select count(*)::int from sessions")).toEqual([{ count: 200 }]);
  expect(await fixture.query("select count(*)::int from users")).toEqual([{ count: 400 }]);
  expect(await new Visitor(server.url).logIn("reset0@example.com", newPassword)).toMatchObject({ status: 302 });
  expect(await server.stop()).toBe(0);
  const problems = server.output().match(/^.*(?:deadlock|Unexpected|"level":[45]0).*$/gm) ?? [];
  expect(problems.filter((line) => !line.includes('"msg":"Too many passwords wait to be hashed."'))).toEqual([]); // those are the 503s
}, 180_000);
