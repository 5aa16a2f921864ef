import { describe, expect, test } from "vitest";
import { changeGroups } from "#server/features/operator/user-access";
import { listUsers } from "#server/features/operator/user-administration";
import { startLatchkey } from "../support/latchkey";
import { runs } from "../support/property-runs";

const latchkey = startLatchkey();

const names = (count: number) => Array.from({ length: count }, (_, at) => `g${at}`);

describe("of a user in admin, staff", () => {
  async function createMember() {
    const id = await latchkey.createUser();
    const groups = await changeGroups(id, { add: ["staff", "admin", "staff"], remove: [] });
    return { id, groups };
  }

  test("the groups are sorted without duplicates", async () => {
    expect((await createMember()).groups).toEqual(["admin", "staff"]);
  });

  test("a group that is there is not added again", async () => {
    const { id } = await createMember();
    expect(await changeGroups(id, { add: ["staff"], remove: ["nobody"] })).toEqual(["admin", "staff"]);
  });

  test("a group that a change adds as well as removes is not there", async () => {
    const { id } = await createMember();
    expect(await changeGroups(id, { add: ["both"], remove: ["both", "admin"] })).toEqual(["staff"]);
  });

  test("the log has every change alone", async () => {
    const { id } = await createMember();
    await changeGroups(id, { add: ["staff"], remove: ["nobody"] });
    await changeGroups(id, { add: ["both"], remove: ["both", "admin"] });
    expect(latchkey.events()).toEqual(Array(2).fill({ event: "user.groups_changed" }));
  });
});

test("a 33rd group changes nothing", async () => {
  const id = await latchkey.createUser();
  expect(await changeGroups(id, { add: names(32), remove: [] })).toHaveLength(32);
  expect(await latchkey.unchanged(() => changeGroups(id, { add: ["more"], remove: [] }))).toBe("too_many");
});

test("a 33rd group may replace another", async () => {
  const id = await latchkey.createUser();
  await changeGroups(id, { add: names(32), remove: [] });
  expect(await changeGroups(id, { add: ["more"], remove: ["g0"] })).toHaveLength(32);
});

test("simultaneous changes of one user's groups are all kept", async () => {
  const id = await latchkey.createUser();
  await Promise.all(names(8).map((name) => changeGroups(id, { add: [name], remove: [] })));
  expect(await latchkey.execute("select groups from users")).toEqual([{ groups: names(8) }]);
});

test("a user who is gone has none", async () => {
  expect(await changeGroups(crypto.randomUUID(), { add: ["staff"], remove: [] })).toBeNull();
});

async function listed(which: Parameters<typeof listUsers>[0]): Promise<string[]> {
  const emails: string[] = [];
  for await (const { email } of listUsers(which)) emails.push(email);
  return emails;
}

test.each<[string, Parameters<typeof listUsers>[0], string[]]>([
  ["all", {}, ["ada", "bob", "eve"]],
  ["those of a group", { group: "staff" }, ["ada", "eve"]],
  ["the suspended ones of a group", { group: "staff", suspended: true }, ["eve"]],
  ["those of a group without members", { group: "sta" }, []],
])("users are listed by address: %s", async (_which, which, expected) => {
  for (const name of ["eve", "ada", "bob"]) {
    const id = await latchkey.createUser({ email: `${name}@example.com` });
    if (name !== "bob") await changeGroups(id, { add: ["staff", name], remove: [] });
  }
  await latchkey.execute("update users set suspended_at = now() where email = 'eve@example.com'");
  expect(await listed(which)).toEqual(expected.map((name) => `${name}@example.com`));
});

test("users of several batches are listed once each", async () => {
  const count = runs(2_001);
  await latchkey.execute(
    "insert into users (id, email, created_at) select gen_random_uuid(), n || '@example.com', now() from generate_series(1, ?::int) n",
    [count],
  );
  const emails = await listed({});
  expect([emails.length, new Set(emails).size]).toEqual([count, count]);
});
