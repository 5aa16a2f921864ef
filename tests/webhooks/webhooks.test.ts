import { beforeEach, expect, test } from "vitest";
import { announce } from "#server/accounts/users/changes";
import { unitOfWork } from "#server/database/unit-of-work";
import { changeGroups } from "#server/features/operator/groups";
import { restoreUser, suspendUser } from "#server/features/operator/suspension";
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

test("a completed registration is told, a refused one is not", async () => {
  const link = await registrationLink(latchkey);
  await registerWith({ ...link, token: "0".repeat(64) }, goodPassword);
  expect(await told()).toEqual([]);
  await registerWith(link, goodPassword);
  expect(await told()).toEqual([await newUser("grace@example.com")]);
});

test("an external sign-in that creates a user is told, and shows https pictures alone", async () => {
  const picture = "https://pictures.example/1";
  for (const [sub, url] of Object.entries({ "1": picture, "2": "http://pictures.example/2" })) {
    await signInWithGoogle({ sub, email: `${sub}@example.com`, email_verified: true, name: "Grace", picture: url });
  }
  await signInWithGoogle({ sub: "1", email: "1@example.com", email_verified: true });
  expect(await told()).toEqual([
    await newUser("1@example.com", { name: "Grace", pictureUrl: picture }),
    await newUser("2@example.com", { name: "Grace" }),
  ]);
});

test("user create and the new users of user import are told, an existing and a wrong line are not", async () => {
  await createUserWithoutPassword("eve@example.com", "Eve");
  await createUserWithoutPassword("eve@example.com", "Eve");
  expect(await told()).toEqual([await newUser("eve@example.com", { name: "Eve" })]);
  await latchkey.execute("delete from pgboss.job");
  const lines = [
    { email },
    { email: "bob@example.com", groups: ["staff"], passwordHash: null },
    { email: "Z@z.example" },
  ].map((line) => JSON.stringify(line));
  await importUsers([...lines, "{"], () => {});
  expect(await told()).toEqual([]);
  await importUsers(lines, () => {});
  expect(await told()).toEqual([await newUser("bob@example.com", { groups: ["staff"] }), await newUser("z@z.example")]);
});

test("a confirmed change of the address is told with the address before", async () => {
  const link = await emailChangeLink(latchkey, cookie, "lovelace@example.com");
  expect(await told()).toEqual([]);
  await confirmAddress(link, { cookie });
  await confirmAddress(link, { cookie });
  expect(await told()).toEqual([
    job("user.email_changed", { ...ada(), email: "lovelace@example.com", previousEmail: email }),
  ]);
});

test("linking and unlinking a provider are told, a returning sign-in and a refused unlink are not", async () => {
  const profile = { sub: "1001", email, email_verified: true, name: "Ada" };
  await act(cookie, "unlink-provider");
  const { cookies } = await signInWithGoogle(profile);
  await signInWithGoogle(profile);
  expect(await told()).toEqual([job("user.provider_linked", { ...ada(), name: "Ada" })]);
  const again = await latchkey.signedIn(id);
  expect(cookies.session).toBeTruthy();
  await act(again, "unlink-provider");
  expect((await told())[1]).toEqual(job("user.provider_unlinked", { ...ada(), name: "Ada" }));
});

test("a reset and a changed password are told, refused ones are not", async () => {
  const link = await resetLink(latchkey);
  await resetWith({ ...link, token: "0".repeat(64) }, "another good password");
  await act(cookie, "change-password", { currentPassword: "wrong", ...twice("another good password") });
  expect(await told()).toEqual([]);
  await act(cookie, "change-password", { currentPassword: goodPassword, ...twice("another good password") });
  expect(await told()).toEqual([job("user.password_changed", ada())]);
  await resetWith(await resetLink(latchkey), "a third good password");
  expect(await told()).toEqual(Array(2).fill(job("user.password_changed", ada())));
});

test("groups, suspension, restoring and deletion are told in their order, and nothing that changed nothing", async () => {
  await changeGroups(id, { add: ["staff", "admins"], remove: [] });
  await changeGroups(id, { add: ["staff"], remove: ["nobody"] });
  await restoreUser(id);
  await suspendUser(id);
  await suspendUser(id);
  await restoreUser(id);
  await deleteAccount({ userId: id, sessionId: null }, email, "other@example.com");
  await deleteAccount({ userId: id, sessionId: null }, email, email);
  const data = { ...ada(), groups: ["admins", "staff"] };
  expect(await told()).toEqual(
    ["user.groups_changed", "user.suspended", "user.restored", "user.deleted"].map((type) => job(type, data)),
  );
});

test("changes of one user within a millisecond, or while the clock is set back, are told in their order", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `group-${index}`);
  const change = (name: string) => announce(latchkey.em(), "user.groups_changed", { ...ada(), groups: [name] });
  for (const name of names) await change(name);
  await latchkey.execute("update pgboss.job set created_on = created_on + interval '1 hour'");
  await change("last");
  const [{ moments } = {}] = await latchkey.execute<{ moments: number }>(
    "select count(distinct created_on)::int as moments from pgboss.job",
  );
  expect(moments).toBe(21);
  expect(await told()).toEqual(
    [...names, "last"].map((name) => job("user.groups_changed", { ...ada(), groups: [name] })),
  );
});

test("nothing is told of a transaction that is rolled back, and nothing is queued without WEBHOOK_URL", async () => {
  const rolledBack = unitOfWork(async (em) => {
    await announce(em, "user.suspended", ada());
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  expect(await told()).toEqual([]);
  latchkey.configure({ WEBHOOK_URL: "", WEBHOOK_SECRET: "" });
  await suspendUser(id);
  expect(await told()).toEqual([]);
});

test("POST /dev/session creates a user, signs in as any sign-in does, and ends the browser's session", async () => {
  const created = await signInForDevelopment("New@example.com", cookie);
  expect(created).toMatchObject({ status: 302, location: "/dashboard" });
  expect(await openAccount(`session=${created.cookies.session}`)).toMatchObject({
    data: { user: { email: "new@example.com" } },
  });
  expect((await openAccount(cookie)).location).toBe("/login");
  expect(await told()).toEqual([await newUser("new@example.com")]);

  const known = await signInForDevelopment(email);
  expect(await openAccount(`session=${known.cookies.session}`)).toMatchObject({ data: { user: { email } } });
  expect(await told()).toHaveLength(1);
});

test("POST /dev/session sets the groups where they are given, and leaves them where not", async () => {
  const signIn = async (more: Record<string, string>) => {
    const { cookies, status } = await call(devSession.action, post("/dev/session", { email, ...more }));
    const [user] = await latchkey.execute<{ groups: string[] }>("select groups from users where id = ?", [id]);
    return [status, cookies.session !== undefined, user?.groups];
  };
  expect(await signIn({ groups: "staff,admins" })).toEqual([302, true, ["admins", "staff"]]);
  expect(await told()).toMatchObject([{ type: "user.groups_changed", data: { groups: ["admins", "staff"] } }]);
  expect(await signIn({})).toEqual([302, true, ["admins", "staff"]]);
  expect(await signIn({ groups: "Staff" })).toEqual([422, false, ["admins", "staff"]]);
  expect(await signIn({ groups: "" })).toEqual([302, true, []]);
});

test("POST /dev/session refuses an invalid address and a suspended account", async () => {
  await suspendUser(id);
  for (const address of ["ada", email]) {
    const refused = await latchkey.unchanged(() => signInForDevelopment(address));
    expect(refused).toMatchObject({ status: 422, data: { email: address } });
    expect(refused.cookies).toEqual({});
  }
});
