import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { startApplication } from "../support/application";
import { createFixtures } from "../support/fixture";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

const changes = 200;
const kills = 4;

test("kill -9 at random moments leaves the webhooks of exactly the committed changes", async () => {
  await using fixture = await createFixture();
  const application = await startApplication();
  let server = await fixture.server(application.settings);
  const left: { email: string; token: string }[] = [];
  for (let n = 0; n < changes; n++) {
    const email = `user${n}@example.com`;
    await fixture.addAccount(email);
    left.push({ email, token: await fixture.addResetToken(email) });
  }
  const [old] = await fixture.query<{ password_hash: string }>("select password_hash from users limit 1");
  const changed = async () =>
    (await fixture.query<{ id: string }>("select id from users where password_hash <> $1", [old?.password_hash])).map(
      ({ id }) => id,
    );
  const told = () => application.received.map(({ data }) => data.id);

  let broken = 0;
  for (let round = 0; round <= kills; round++) {
    const some = left.splice(0, changes / (kills + 1));
    const resets = Promise.allSettled(some.map(({ email, token }) => new Visitor(server.url).reset({ email, token })));
    if (round < kills) {
      const before = (await changed()).length;
      const moment = before + randomInt(1, some.length - 5);
      await until(async () => (await changed()).length >= moment, "some changes are committed");
      await server.kill();
    }
    broken += (await resets).filter(({ status }) => status === "rejected").length;
    if (round === kills) continue;
    await fixture.rolledBack();
    const committed = await changed();
    expect(committed).toEqual(expect.arrayContaining([...new Set(told())]));
    // As if the minute after which the maintenance retries the job of a process that ended had passed.
    await fixture.query("update pgboss.job set started_on = now() - interval '2 minutes' where state = 'active'");
    server = await fixture.server(application.settings);
  }
  const committed = await changed();
  await application.when(() => new Set(told()).size >= committed.length);
  expect([...new Set(told())].sort()).toEqual(committed.sort());
  expect(new Set(application.received.map(({ id }) => id)).size).toBe(committed.length);
  expect(broken).toBeGreaterThan(0);
  expect(committed.length).toBeLessThan(changes);
  await application.stop();
}, 300_000);
