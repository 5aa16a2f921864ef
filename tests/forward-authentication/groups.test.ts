import { expect, test } from "vitest";
import { changeGroups } from "#server/features/operator/groups";
import { listUsers } from "#server/features/operator/user-administration";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey();

const names = (count: number) => Array.from({ length: count }, (_, at) => `g${at}`);

test("groups are added and removed, sorted and without duplicates, and the log has each change", async () => {
  const id = await latchkey.createUser();
  expect(await changeGroups(id, { add: ["staff", "admin", "staff"], remove: [] })).toEqual(["admin", "staff"]);
  expect(await changeGroups(id, { add: ["staff"], remove: ["nobody"] })).toEqual(["admin", "staff"]);
  expect(await changeGroups(id, { add: ["both"], remove: ["both", "admin"] })).toEqual(["staff"]);
  expect(latchkey.events()).toEqual(Array(2).fill({ event: "user.groups_changed" }));
});

test("a user has at most 32 groups; one more changes nothing", async () => {
  const id = await latchkey.createUser();
  expect(await changeGroups(id, { add: names(32), remove: [] })).toHaveLength(32);
  expect(await latchkey.unchanged(() => changeGroups(id, { add: ["more"], remove: [] }))).toBe("too_many");
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

test("users are listed by address: all, those of a group, those who are suspended", async () => {
  for (const name of ["eve", "ada", "bob"]) {
    const id = await latchkey.createUser({ email: `${name}@example.com` });
    if (name !== "bob") await changeGroups(id, { add: ["staff", name], remove: [] });
  }
  await latchkey.execute("update users set suspended_at = now() where email = 'eve@example.com'");
  expect(await listed({})).toEqual(["ada@example.com", "bob@example.com", "eve@example.com"]);
  expect(await listed({ group: "staff" })).toEqual(["ada@example.com", "eve@example.com"]);
  expect(await listed({ group: "staff", suspended: true })).toEqual(["eve@example.com"]);
  expect(await listed({ group: "sta" })).toEqual([]);
});

test("more than 10,000 users are listed once each", async () => {
  await latchkey.execute(
    "insert into users (id, email, created_at) select gen_random_uuid(), n || '@example.com', now() from generate_series(1, 10001) n",
  );
  const emails = await listed({});
  expect([emails.length, new Set(emails).size]).toEqual([10_001, 10_001]);
});
