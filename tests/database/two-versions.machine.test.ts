import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createFixtures } from "../support/fixture";
import { send } from "../support/http";
import { newPassword } from "../support/passwords";
import type { RunningServer } from "../support/server";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

function buildNextVersion(): string {
  const build = readFileSync("build/index.js", "utf8");
  const next = build.replace(
    /(?=\.\.\.ownMigrations\n)/,
    `Migration99991231000000: async () => {
        const { Migration } = await import("@mikro-orm/migrations");
        return class extends Migration {
          up() { this.addSql('alter table "users" add column "nickname" text null'); }
        };
      },
      `,
  );
  expect(next).not.toBe(build);
  mkdirSync("build/next", { recursive: true });
  writeFileSync("build/next/index.js", next);
  return "build/next/index.js";
}

/** A visitor whose requests go to the servers in turn. */
function visit(servers: RunningServer[]): Visitor {
  let turn = 0;
  return new Visitor("", undefined, (_origin, path, sent) => send(servers[turn++ % servers.length]!.url, path, sent));
}

test("two versions on one database work as one service after the newer one's migration", async () => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService();
  const older = await fixture.server(mails.settings);
  const newer = await fixture.server(mails.settings, buildNextVersion());
  const columns = "select count(*)::int from information_schema.columns where column_name = 'nickname'";
  expect(await fixture.query(columns)).toEqual([{ count: 1 }]);
  for (const { url } of [older, newer]) expect(await new Visitor(url).get("/readyz")).toMatchObject({ status: 200 });
  const both = [older, newer];

  const emails = Array.from({ length: 20 }, (_, n) => `user${n}@example.com`);
  for (const email of emails) await fixture.addAccount(email);
  await Promise.all(emails.map((email, n) => new Visitor(both[n % 2]!.url).askForReset(email)));
  await mails.when(() => mails.mails.length >= emails.length);
  expect(mails.mails.map(({ to }) => to).sort()).toEqual([...emails].sort());

  const ada = visit(both);
  await fixture.addAccount("ada@example.com");
  expect(await ada.logIn()).toMatchObject({ status: 302 });
  for (let n = 0; n < 4; n++) expect(await ada.get("/dashboard")).toMatchObject({ status: 200 });

  const token = await fixture.addResetToken("ada@example.com");
  const resets = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      new Visitor(both[n % 2]!.url).reset({ email: "ada@example.com", token }, `${newPassword} ${n}`),
    ),
  );
  expect(resets.map(({ status }) => status).sort()).toEqual([302, ...Array(19).fill(422)]);
  for (let n = 0; n < 2; n++) {
    expect(await ada.get("/dashboard")).toMatchObject({ status: 302, location: "/login" });
  }

  for (let n = 0; n < 10; n++) {
    const visitor = new Visitor(both[n % 2]!.url);
    expect(await visitor.logIn("ada@example.com", "not the password")).toMatchObject({ status: 422 });
  }
  for (const server of both) {
    expect(await new Visitor(server.url).logIn("ada@example.com", "not the password")).toMatchObject({ status: 429 });
  }

  expect(await newer.stop()).toBe(0);
  expect(await older.stop()).toBe(0);
  const restarted = await fixture.server(mails.settings);
  expect(await new Visitor(restarted.url).get("/readyz")).toMatchObject({ status: 200 });
});

test("processes that start simultaneously on an empty database are all ready", async () => {
  await using fixture = await createFixture();
  const servers = await Promise.all([fixture.server(), fixture.server(), fixture.server()]);
  for (const { url } of servers) expect(await new Visitor(url).get("/readyz")).toMatchObject({ status: 200 });
  expect(await fixture.query("select name from mikro_orm_migrations group by name having count(*) > 1")).toEqual([]);
  expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0, 0]);
  expect(servers.map((server) => server.output()).join("")).not.toMatch(/error/i);
});
