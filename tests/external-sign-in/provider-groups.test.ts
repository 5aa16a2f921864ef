import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import { identityFinders } from "#server/features/application/identity";
import { changeGroups } from "#server/features/operator/user-access";
import { listUsers } from "#server/features/operator/user-administration";
import { exportUsers } from "#server/features/operator/user-import";
import * as dataRoute from "~/routes/account.data";
import { act } from "../support/account-calls";
import { failed, succeeded } from "../support/command";
import { callEndpoint } from "../support/endpoint-calls";
import { comeBack, discovers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, type Outcome, post } from "../support/route-calls";
import { statementsOf } from "../support/statements";

const issuer = "https://id.example.org";
const provider = {
  IDP_PROVIDER: "oidc",
  IDP_ISSUER: issuer,
  IDP_CLIENT_ID: "the-client",
  IDP_CLIENT_SECRET: "the-secret",
};
const withClaim = { ...provider, IDP_GROUPS_CLAIM: "groups" };
const webhook = {
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
};
const latchkey = startLatchkey({ ...withClaim, ...webhook });

const email = "ada@example.com";
const ada = { sub: "1001", email, email_verified: true };

function answers(profile: object, at = issuer) {
  nock(at).post("/token").reply(200, { access_token: "at", token_type: "Bearer" });
  nock(at).get("/me").reply(200, profile);
}

/** Signs in at the provider. A discovery document is fetched once in a process. */
let discovered = false;
async function signIn(claims: object, cookie = ""): Promise<Outcome> {
  if (!discovered) discovers(issuer);
  discovered = true;
  answers({ ...ada, ...claims });
  const state = "cd".repeat(32);
  const done = await comeBack({ code: "the-code", state }, `${cookie}; oauth_state=${state}`);
  expect(done.location).toBe("/dashboard");
  return done;
}

const sessionOf = (done: Outcome) => `session=${done.cookies.session}`;

/** The groups as the account's session has them. */
async function groupsAt(cookie: string): Promise<string[]> {
  const { user } = JSON.parse(String((await callEndpoint("/auth/session", { cookie }))?.body));
  return user.groups;
}

const stored = async () =>
  (await latchkey.execute<{ groups: string[]; idp_groups: string[] }>("select groups, idp_groups from users"))[0];

const told = () =>
  latchkey
    .execute<{ type: string; groups: string[] }>(
      "select data ->> 'type' as type, data #> '{data,groups}' as groups from pgboss.job where name = 'latchkey-webhooks' order by created_on",
    )
    .then((rows) => rows.map(({ type, groups }) => [type, groups]));

const warnings = () =>
  latchkey
    .logLines()
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 40);

const idOf = async () => (await latchkey.execute<{ id: string }>("select id from users"))[0]?.id ?? "";

async function listed(group: string): Promise<string[][]> {
  const found: string[][] = [];
  for await (const user of listUsers({ group })) found.push(user.groups);
  return found;
}

describe("the claim", () => {
  test.each<[what: string, claims: object, groups: string[]]>([
    ["an array of texts", { groups: ["staff", "admins"] }, ["admins", "staff"]],
    ["one text", { groups: "staff" }, ["staff"]],
    ["names in capitals and Keycloak's slash", { groups: ["/Admins", "admins", "STAFF"] }, ["admins", "staff"]],
    ["none", {}, []],
    ["null", { groups: null }, []],
    ["a number", { groups: 1 }, []],
    ["an object", { groups: { staff: true } }, []],
    ["an array with other values", { groups: ["staff", 1, null, ["admins"], { admins: true }] }, ["staff"]],
    ["another claim of that name", { roles: ["staff"] }, []],
    ["what is no name", { groups: ["a b", "", "//x", "/a/b", "_x", "é", "x".repeat(65), "ok"] }, ["ok"]],
  ])("%s", async (_what, claims, groups) => {
    const cookie = sessionOf(await signIn(claims));
    expect(await groupsAt(cookie)).toEqual(groups);
    expect(await stored()).toEqual({ groups: [], idp_groups: groups });
  });

  test("the first 32 of the sorted names count", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `g${String(n).padStart(2, "0")}`);
    const cookie = sessionOf(await signIn({ groups: [...names].reverse() }));
    expect(await groupsAt(cookie)).toEqual(names.slice(0, 32));
  });

  test("the first 32 of the operator's and the provider's names together count", async () => {
    const names = (letter: string) => Array.from({ length: 32 }, (_, n) => `${letter}${String(n).padStart(2, "0")}`);
    const cookie = sessionOf(await signIn({ groups: names("b") }));
    await latchkey.execute("update users set groups = ?", [`{${[...names("a").slice(1), "z"]}}`]);
    expect(await groupsAt(cookie)).toEqual([...names("a").slice(1), "b00"]);
  });

  test("what is no name is in the log at a limited length", async () => {
    await signIn({ groups: ["/Parent/Child", "ada@example.com", "x".repeat(200), "ok"] });
    expect(warnings()).toMatchObject([
      { groups: ["…@…", "parent/child", "x".repeat(64)], count: 3, msg: "The provider's groups have invalid names." },
    ]);
  });

  test("may be named by a URL", async () => {
    latchkey.configure({ ...withClaim, IDP_GROUPS_CLAIM: "https://sso.example/groups" });
    const cookie = sessionOf(await signIn({ "https://sso.example/groups": ["staff"] }));
    expect(await groupsAt(cookie)).toEqual(["staff"]);
  });

  test("replaces the groups of the time before", async () => {
    await signIn({ groups: ["staff", "admins"] });
    const cookie = sessionOf(await signIn({ groups: ["staff", "sales"] }));
    expect(await groupsAt(cookie)).toEqual(["sales", "staff"]);
  });

  test("counts at a connection", async () => {
    const cookie = await latchkey.signedIn();
    if (!discovered) discovers(issuer);
    discovered = true;
    const begun = await act(cookie, "connect-provider");
    const state = String(new URL(begun.location ?? "").searchParams.get("state"));
    answers({ ...ada, groups: ["staff"] });
    const cookies = `${cookie}; oauth_state=${state}; oauth_connect=${begun.cookies.oauth_connect}`;
    expect((await comeBack({ code: "c", state }, cookies)).location).toBe("/dashboard?notice=idp_connected");
    expect(await groupsAt(cookie)).toEqual(["staff"]);
    expect(await told()).toEqual([
      ["user.provider_linked", ["staff"]],
      ["user.groups_changed", ["staff"]],
    ]);
  });

  test("counts where an account is found by its address", async () => {
    await latchkey.createUser();
    const cookie = sessionOf(await signIn({ groups: ["staff"] }));
    expect(await groupsAt(cookie)).toEqual(["staff"]);
  });

  test("that has not changed costs no statement", async () => {
    await signIn({ groups: ["staff"] });
    const texts = (claims: object) => statementsOf(() => signIn(claims)).then((all) => all.map(({ text }) => text));
    const same = await texts({ groups: ["staff"] });
    latchkey.configure(provider);
    await signIn({});
    expect(await texts({})).toEqual(same);
  });
});

describe("the account's groups are the operator's and the provider's together", () => {
  let cookie: string;

  beforeEach(async () => {
    await signIn({ groups: ["staff", "both"] });
    await changeGroups(await idOf(), { add: ["audit", "both"], remove: [] });
    cookie = sessionOf(await signIn({ groups: ["staff", "both"] }));
  });

  test("at /auth/session", async () => {
    expect(await groupsAt(cookie)).toEqual(["audit", "both", "staff"]);
  });

  test("at /auth/verify", async () => {
    const found = await identityFinders().findUser(cookie.replace("session=", ""), () => issuer, null);
    expect(found?.groups).toEqual(["audit", "both", "staff"]);
  });

  test("in the owner's data", async () => {
    const { account } = JSON.parse((await call(dataRoute.action, post("/account/data", {}, { cookie }))).data);
    expect(account.groups).toEqual(["audit", "both", "staff"]);
  });

  test("in webhooks", async () => {
    await changeGroups(await idOf(), { add: ["more"], remove: [] });
    expect((await told()).at(-1)).toEqual(["user.groups_changed", ["audit", "both", "more", "staff"]]);
  });

  test("in `user list --group`", async () => {
    for (const name of ["audit", "both", "staff"]) expect(await listed(name)).toEqual([["audit", "both", "staff"]]);
    expect(await listed("nobody")).toEqual([]);
  });

  test("without the provider's in `user export`", async () => {
    for await (const user of exportUsers()) expect(user.groups).toEqual(["audit", "both"]);
  });

  test("in `user groups` with their origin", async () => {
    expect(await latchkey.command("user", "groups", email)).toEqual(
      succeeded("audit\nboth  from the provider\nstaff  from the provider\n"),
    );
  });

  test("without the operator's half after `--remove`", async () => {
    const { stdout } = await latchkey.command("user", "groups", email, "--remove", "audit", "--remove", "both");
    expect(stdout).toBe("both  from the provider\nstaff  from the provider\n");
    expect(await stored()).toEqual({ groups: [], idp_groups: ["both", "staff"] });
  });

  test("of which `--remove` takes none that the provider alone gives", async () => {
    const remove = () => latchkey.command("user", "groups", email, "--add", "more", "--remove", "staff");
    expect(await latchkey.unchanged(remove)).toEqual(
      failed("Nothing was changed: the provider gives the group, and it can be removed there alone.\n"),
    );
  });
});

describe("user.groups_changed", () => {
  test("is not told beside a user.created with the groups", async () => {
    await signIn({ groups: ["staff"] });
    expect(await told()).toEqual([["user.created", ["staff"]]]);
    expect(latchkey.events()).not.toContainEqual({ event: "user.groups_changed" });
  });

  test("is told when the whole changes", async () => {
    await signIn({ groups: ["staff"] });
    await signIn({ groups: ["sales"] });
    expect((await told()).slice(1)).toEqual([["user.groups_changed", ["sales"]]]);
    expect(latchkey.events()).toContainEqual({ event: "user.groups_changed" });
  });

  const actors = () =>
    latchkey
      .execute<{ actor: string }>("select actor from account_events where type = 'user.groups_changed' order by at, id")
      .then((rows) => rows.map(({ actor }) => actor));

  test("is in the history as the provider's change", async () => {
    await signIn({ groups: ["staff"] });
    await signIn({ groups: ["sales"] });
    expect(await actors()).toEqual(["provider"]);
  });

  test("is in the history as the provider's change where the sign-in links an account", async () => {
    await latchkey.createUser();
    await signIn({ groups: ["staff"] });
    expect(await actors()).toEqual(["provider"]);
  });

  test("is in the history as the owner's change after `unlink-provider`", async () => {
    await latchkey.signedIn();
    const cookie = sessionOf(await signIn({ groups: ["staff"] }));
    await latchkey.execute("delete from account_events");
    await act(cookie, "unlink-provider");
    expect(await actors()).toEqual(["owner"]);
  });

  test("is not told when the operator had given the group before", async () => {
    await signIn({});
    await changeGroups(await idOf(), { add: ["staff"], remove: [] });
    const before = await told();
    await signIn({ groups: ["staff"] });
    expect(await told()).toEqual(before);
  });

  test("is not told for a sign-in with the same groups", async () => {
    await signIn({ groups: ["staff"] });
    await signIn({ groups: ["/Staff"] });
    expect(await told()).toHaveLength(1);
  });
});

describe("the stored groups count for nothing at once", () => {
  let cookie: string;

  beforeEach(async () => {
    cookie = await latchkey.signedIn();
    cookie = sessionOf(await signIn({ groups: ["staff"] }));
    await changeGroups(await idOf(), { add: ["audit"], remove: [] });
    await latchkey.execute("delete from pgboss.job");
  });

  test("after `user unlink`", async () => {
    expect((await latchkey.command("user", "unlink", email)).status).toBe(0);
    expect(await stored()).toEqual({ groups: ["audit"], idp_groups: [] });
    expect(await told()).toEqual([
      ["user.provider_unlinked", ["audit"]],
      ["user.groups_changed", ["audit"]],
    ]);
  });

  test("after `unlink-provider`", async () => {
    const unlinked = await act(cookie, "unlink-provider");
    expect(unlinked.location).toContain("/dashboard");
    expect(await groupsAt(`session=${unlinked.cookies.session}`)).toEqual(["audit"]);
    expect((await told()).at(-1)).toEqual(["user.groups_changed", ["audit"]]);
  });

  test.each([
    ["with another issuer", { ...withClaim, IDP_ISSUER: "https://other.example.org" }],
    ["without the setting", provider],
    ["without a provider", {}],
  ])("%s", async (_what, settings) => {
    latchkey.configure(settings === provider ? { IDP_GROUPS_CLAIM: "" } : { ...empty, ...settings });
    expect(await groupsAt(cookie)).toEqual(["audit"]);
    expect(await listed("staff")).toEqual([]);
    expect(await latchkey.command("user", "groups", email)).toEqual(succeeded("audit\n"));
  });

  test("after a sign-in without the setting", async () => {
    latchkey.configure({ IDP_GROUPS_CLAIM: "" });
    await signIn({ groups: ["staff"] });
    expect(await stored()).toEqual({ groups: ["audit"], idp_groups: [] });
  });
});

const empty = { IDP_PROVIDER: "", IDP_ISSUER: "", IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "", IDP_GROUPS_CLAIM: "" };

describe("doctor counts the connected accounts", () => {
  const counted = async () => {
    const { stdout } = await latchkey.command("doctor", "--json");
    return JSON.parse(stdout).filter(({ name }: { name: string }) => name === "accounts");
  };

  test("by whether they have groups from the provider", async () => {
    await signIn({ groups: ["staff"] });
    await signIn({ sub: "1002", email: "bob@example.com" });
    await latchkey.createUser({ email: "eve@example.com" });
    discovers(issuer);
    expect(await counted()).toMatchObject([
      { status: "ok", found: "connected accounts: 1 with groups from the provider, 1 without" },
    ]);
  });

  test("with a warning where none has groups", async () => {
    await signIn({});
    expect(await counted()).toMatchObject([
      { status: "warn", found: "connected accounts: 0 with groups from the provider, 1 without" },
    ]);
  });
});
