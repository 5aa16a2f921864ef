import { beforeEach, describe, expect, test } from "vitest";
import { announce } from "#server/accounts/users/changes";
import { unitOfWork } from "#server/database/unit-of-work";
import { changeGroups, restoreUser, suspendUser } from "#server/features/operator/user-access";
import { createUserWithoutPassword } from "#server/features/operator/user-administration";
import { importUsers } from "#server/features/operator/user-import";
import { deleteAccount } from "#server/features/owner/account-deletion";
import * as devSession from "~/routes/dev.session";
import { act, confirmAddress, openAccount, registerWith, resetWith } from "../support/account-calls";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

const webhook = {
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
};
const latchkey = startLatchkey({ ...google, ...webhook });

const email = "ada@example.com";
let id: string;
let cookie: string;

beforeEach(async () => {
  id = await latchkey.createUser();
  cookie = await latchkey.signedIn(id);
});

const told = () =>
  latchkey
    .execute<{ data: object }>(
      "select data from pgboss.job where name = 'latchkey-webhooks' order by created_on, data #>> '{data,email}'",
    )
    .then((rows) => rows.map(({ data }) => data));

const ada = () => ({ id, email, name: null, pictureUrl: null, groups: [] as string[] });
const job = (type: string, data: object) => ({ task: "webhook", type, data });

const idOf = async (address: string) =>
  (await latchkey.execute<{ id: string }>("select id from users where email = ?", [address]))[0]?.id;

const newUser = async (address: string, more: object = {}) =>
  job("user.created", { ...ada(), id: (await idOf(address)) ?? "none", email: address, ...more });

const signInForDevelopment = (address: string, from = "") =>
  call(devSession.action, post("/dev/session", { email: address }, { cookie: from }));

test("a completed registration sends a webhook", async () => {
  await registerWith(await registrationLink(latchkey), goodPassword);
  expect(await told()).toEqual([await newUser("grace@example.com")]);
});

test("a refused registration sends no webhook", async () => {
  const link = await registrationLink(latchkey);
  await registerWith({ ...link, token: "0".repeat(64) }, goodPassword);
  expect(await told()).toEqual([]);
});

const picture = "https://pictures.example/1";
const grace = (sub: string, url: string) =>
  signInWithGoogle({ sub, email: `${sub}@example.com`, email_verified: true, name: "Grace", picture: url });

test("an external sign-in that creates a user sends a webhook", async () => {
  await grace("1", picture);
  expect(await told()).toEqual([await newUser("1@example.com", { name: "Grace", pictureUrl: picture })]);
});

test("a returning external sign-in sends no webhook", async () => {
  await grace("1", picture);
  await signInWithGoogle({ sub: "1", email: "1@example.com", email_verified: true });
  expect(await told()).toHaveLength(1);
});

test("a webhook has no picture with an http URL", async () => {
  await grace("2", "http://pictures.example/2");
  expect(await told()).toEqual([await newUser("2@example.com", { name: "Grace" })]);
});

test("`user create` sends one webhook for a new user", async () => {
  await createUserWithoutPassword("eve@example.com", "Eve");
  await createUserWithoutPassword("eve@example.com", "Eve");
  expect(await told()).toEqual([await newUser("eve@example.com", { name: "Eve" })]);
});

const imported = [
  { email },
  { email: "bob@example.com", groups: ["staff"], passwordHash: null },
  { email: "Z@z.example" },
].map((line) => JSON.stringify(line));

test("`user import` sends webhooks for the new users alone", async () => {
  await importUsers(imported, () => {});
  expect(await told()).toEqual([await newUser("bob@example.com", { groups: ["staff"] }), await newUser("z@z.example")]);
});

test("`user import` of a file with a wrong line sends no webhook", async () => {
  await importUsers([...imported, "{"], () => {});
  expect(await told()).toEqual([]);
});

test("a confirmed change of the address sends one webhook with the address before", async () => {
  const link = await emailChangeLink(latchkey, cookie, "lovelace@example.com");
  await confirmAddress(link, { cookie });
  await confirmAddress(link, { cookie });
  expect(await told()).toEqual([
    job("user.email_changed", { ...ada(), email: "lovelace@example.com", previousEmail: email }),
  ]);
});

test("a requested change of the address sends no webhook", async () => {
  await emailChangeLink(latchkey, cookie, "lovelace@example.com");
  expect(await told()).toEqual([]);
});

const profile = { sub: "1001", email, email_verified: true, name: "Ada" };

test("a linked provider sends a webhook", async () => {
  await signInWithGoogle(profile);
  expect(await told()).toEqual([job("user.provider_linked", { ...ada(), name: "Ada" })]);
});

test("a returning sign-in with a linked provider sends no webhook", async () => {
  await signInWithGoogle(profile);
  const { cookies } = await signInWithGoogle(profile);
  expect(cookies.session).toBeTruthy();
  expect(await told()).toHaveLength(1);
});

test("an unlinked provider sends a webhook", async () => {
  await signInWithGoogle(profile);
  await act(await latchkey.signedIn(id), "unlink-provider");
  expect((await told())[1]).toEqual(job("user.provider_unlinked", { ...ada(), name: "Ada" }));
});

test("a refused unlinking sends no webhook", async () => {
  await act(cookie, "unlink-provider");
  expect(await told()).toEqual([]);
});

test("a changed password sends a webhook", async () => {
  await act(cookie, "change-password", { currentPassword: goodPassword, ...twice("another good password") });
  expect(await told()).toEqual([job("user.password_changed", ada())]);
});

test("a refused change of the password sends no webhook", async () => {
  await act(cookie, "change-password", { currentPassword: "wrong", ...twice("another good password") });
  expect(await told()).toEqual([]);
});

test("a reset sends a webhook", async () => {
  await resetWith(await resetLink(latchkey), "a third good password");
  expect(await told()).toEqual([job("user.password_changed", ada())]);
});

test("a refused reset sends no webhook", async () => {
  const link = await resetLink(latchkey);
  await resetWith({ ...link, token: "0".repeat(64) }, "another good password");
  expect(await told()).toEqual([]);
});

test("changes by the operator send webhooks in their order", async () => {
  await changeGroups(id, { add: ["staff", "admins"], remove: [] });
  await suspendUser(id);
  await restoreUser(id);
  await deleteAccount({ user: { id: id }, sessionId: null }, email, email);
  const data = { ...ada(), groups: ["admins", "staff"] };
  expect(await told()).toEqual(
    ["user.groups_changed", "user.suspended", "user.restored", "user.deleted"].map((type) => job(type, data)),
  );
});

test.each([
  [
    "a change to the groups that the user has",
    async () => {
      await changeGroups(id, { add: ["staff"], remove: [] });
      await latchkey.execute("delete from pgboss.job");
      await changeGroups(id, { add: ["staff"], remove: ["nobody"] });
    },
  ],
  [
    "the suspension of a suspended account",
    async () => {
      await suspendUser(id);
      await latchkey.execute("delete from pgboss.job");
      await suspendUser(id);
    },
  ],
  ["the restoration of an active account", () => restoreUser(id)],
  [
    "a deletion with another address",
    () => deleteAccount({ user: { id: id }, sessionId: null }, email, "other@example.com"),
  ],
])("%s sends no webhook", async (_what, changeNothing) => {
  await changeNothing();
  expect(await told()).toEqual([]);
});

const groupChange = (name: string) => announce(latchkey.em(), "user.groups_changed", { ...ada(), groups: [name] });
const groupWebhooks = (names: string[]) =>
  names.map((name) => job("user.groups_changed", { ...ada(), groups: [name] }));

const distinctMoments = async () => {
  const sql = "select count(distinct created_on)::int as moments from pgboss.job";
  return (await latchkey.execute<{ moments: number }>(sql))[0]?.moments;
};

test("changes of one user within a millisecond keep their order", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `group-${index}`);
  for (const name of names) await groupChange(name);
  expect(await distinctMoments()).toBe(20);
  expect(await told()).toEqual(groupWebhooks(names));
});

test("changes of one user keep their order when the clock is set back", async () => {
  await groupChange("first");
  await latchkey.execute("update pgboss.job set created_on = created_on + interval '1 hour'");
  await groupChange("last");
  expect(await distinctMoments()).toBe(2);
  expect(await told()).toEqual(groupWebhooks(["first", "last"]));
});

test("a transaction that is rolled back sends no webhook", async () => {
  const rolledBack = unitOfWork(async (em) => {
    await announce(em, "user.suspended", ada());
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  expect(await told()).toEqual([]);
});

test("a change without WEBHOOK_URL sends no webhook", async () => {
  latchkey.configure({ WEBHOOK_URL: "", WEBHOOK_SECRET: "" });
  await suspendUser(id);
  expect(await told()).toEqual([]);
});

test("POST /dev/session creates a user", async () => {
  const created = await signInForDevelopment("New@example.com");
  expect(created).toMatchObject({ status: 302, location: "/dashboard" });
  expect(await openAccount(`session=${created.cookies.session}`)).toMatchObject({
    data: { user: { email: "new@example.com" } },
  });
  expect(await told()).toEqual([await newUser("new@example.com")]);
});

test("POST /dev/session ends the browser's session", async () => {
  await signInForDevelopment("New@example.com", cookie);
  expect((await openAccount(cookie)).location).toBe("/login");
});

test("POST /dev/session signs a known user in", async () => {
  const known = await signInForDevelopment(email);
  expect(await openAccount(`session=${known.cookies.session}`)).toMatchObject({ data: { user: { email } } });
  expect(await told()).toEqual([]);
});

describe("the groups of POST /dev/session", () => {
  const signIn = async (more: Record<string, string>) => {
    const { cookies, status } = await call(devSession.action, post("/dev/session", { email, ...more }));
    const [user] = await latchkey.execute<{ groups: string[] }>("select groups from users where id = ?", [id]);
    return [status, cookies.session !== undefined, user?.groups];
  };

  test("are set", async () => {
    expect(await signIn({ groups: "staff,admins" })).toEqual([302, true, ["admins", "staff"]]);
    expect(await told()).toMatchObject([{ type: "user.groups_changed", data: { groups: ["admins", "staff"] } }]);
  });

  test.each([
    ["stay without a field", {}, [302, true, ["admins", "staff"]]],
    ["stay when one is invalid", { groups: "Staff" }, [422, false, ["admins", "staff"]]],
    ["end with an empty field", { groups: "" }, [302, true, []]],
  ])("%s", async (_outcome, more, expected) => {
    await signIn({ groups: "staff,admins" });
    expect(await signIn(more)).toEqual(expected);
  });
});

test.each([
  ["an invalid address", "ada"],
  ["a suspended account", email],
])("POST /dev/session refuses %s", async (_what, address) => {
  await suspendUser(id);
  const refused = await latchkey.unchanged(() => signInForDevelopment(address));
  expect(refused).toMatchObject({ status: 422, data: { email: address } });
  expect(refused.cookies).toEqual({});
});
