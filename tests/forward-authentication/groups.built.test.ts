import { describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";
import { createDatabase } from "../support/template-copy";

const accounts = { ada: ["admin", "staff"], bob: [] };

const tokenOf = (name: string) => sha256(`session of ${name}`);

/** With a signed-in user for each of the accounts. */
async function databaseWithGroups() {
  const database = await createDatabase();
  const { orm, close } = await openDatabase(database.url);
  for (const [name, groups] of Object.entries(accounts)) {
    const id = crypto.randomUUID();
    const em = orm.em.fork();
    await em.execute(
      "insert into users (id, email, groups, created_at) values (?, ?, string_to_array(?, ','), now())",
      [id, `${name}@example.com`, groups.join()],
    );
    await em.execute(
      `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
       values (gen_random_uuid(), ?, ?, now(), now(), now() + interval '1 day')`,
      [sha256(tokenOf(name)), id],
    );
  }
  await close();
  return database;
}

const latchkey = runLatchkey(
  { APP_URL: "https://login.example", RETURN_ORIGINS: "https://app.example" },
  databaseWithGroups,
);

const navigation = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "app.example",
  "X-Forwarded-Uri": "/notes?page=2",
  "Sec-Fetch-Mode": "navigate",
  "Sec-Fetch-Dest": "document",
};

const cookieOf = (name: keyof typeof accounts, scheme = "") => `${scheme}session=${tokenOf(name)}`;

const verify = (name: keyof typeof accounts, query = "", headers = {}) => {
  const scheme = "X-Forwarded-Proto" in headers ? "__Host-" : "";
  return latchkey.sendPlainly(`/auth/verify${query}`, { cookie: cookieOf(name, scheme), headers });
};

describe("/auth/verify", () => {
  test("names the user's groups, sorted and joined by commas", async () => {
    expect((await verify("ada")).headers.get("Remote-Groups")).toBe("admin,staff");
    expect((await verify("bob")).headers.get("Remote-Groups")).toBe("");
  });

  test.each(["?group=staff", "?group=nobody&group=admin", "?group=nobody&&group=admin", "?group=%73taff"])(
    "admits with %s who is in one of the groups",
    async (query) => {
      const answer = await verify("ada", query);
      expect([answer.status, answer.body, answer.headers.get("Remote-Groups")]).toEqual([200, "", "admin,staff"]);
      expect(await verify("bob", query)).toMatchObject({ status: 403, body: "", location: null });
    },
  );

  test.each(["?group=", "?group=Staff", "?group=staf", "?group=admin,staff", "?group=*", "?group=%"])(
    "admits nobody with %s",
    async (query) => {
      const answer = await verify("ada", query);
      expect([answer.status, answer.headers.get("Remote-User")]).toEqual([403, null]);
    },
  );

  test.each(["groups=admin", "Group=admin", "group[]=admin", "staff", "group", "%67roup=admin", "group=admin&x=1"])(
    "admits nobody with ?%s, a typing error, and says so in one line of the log",
    async (query) => {
      await latchkey.flushed();
      const before = latchkey.output().length;
      for (const headers of [{}, navigation]) {
        const answer = await verify("ada", `?${query}`, headers);
        expect(answer).toMatchObject({ status: 500, body: "", location: null });
        expect(answer.headers.get("Remote-User")).toBeNull();
      }
      expect(await latchkey.sendPlainly(`/auth/verify?${query}`)).toMatchObject({ status: 500, body: "" });
      await latchkey.flushed();
      const parameter = query.replace("group=admin&", "").replace(/=.*/, "");
      const line = { level: 50, time: expect.any(String), parameter, msg: "/auth/verify takes group=NAME alone." };
      const lines = latchkey
        .output()
        .slice(before)
        .split("\n")
        .filter((text) => text.startsWith("{"));
      expect(lines.map((text) => JSON.parse(text))).toEqual([line, line, line]);
    },
  );

  test("sends a navigation of a user without access to /no-access, and a fetch() gets 403", async () => {
    const location = "https://login.example/no-access?return_to=https%3A%2F%2Fapp.example%2Fnotes%3Fpage%3D2";
    expect(await verify("bob", "?group=staff", navigation)).toMatchObject({ status: 302, location, body: "" });
    const fetched = { ...navigation, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", Accept: "text/html" };
    expect(await verify("bob", "?group=staff", fetched)).toMatchObject({ status: 403, location: null });
  });

  test("sends a visitor without a session to the login page, whatever group is asked for", async () => {
    const answer = await latchkey.sendPlainly("/auth/verify?group=staff", { headers: navigation });
    expect(answer.location).toBe("https://login.example/login?return_to=https%3A%2F%2Fapp.example%2Fnotes%3Fpage%3D2");
    expect((await latchkey.send("/auth/verify?group=staff")).status).toBe(401);
  });
});

test("/auth/session has the groups", async () => {
  const groupsOf = async (name: keyof typeof accounts) =>
    JSON.parse((await latchkey.send("/auth/session", { cookie: cookieOf(name) })).body).user.groups;
  expect([await groupsOf("ada"), await groupsOf("bob")]).toEqual([["admin", "staff"], []]);
});

describe("/no-access", () => {
  const path = "/no-access?return_to=https%3A%2F%2Fapp.example%2Fnotes";

  test("says which account is signed in, offers to log out, and to try again", async () => {
    const page = await latchkey.send(path, { cookie: cookieOf("bob") });
    expect(page.status).toBe(200);
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    expect(page.body).toContain("bob@example.com");
    expect(page.body).toContain('action="/logout?return_to=https%3A%2F%2Fapp.example%2Fnotes"');
    expect(page.body).toContain('href="https://app.example/notes"');
    expect(page.headers.get("Content-Security-Policy")).toContain("form-action 'self' https://app.example;");
  });

  test("another site's return_to is in no form and no link", async () => {
    const page = await latchkey.send("/no-access?return_to=https://evil.example/", { cookie: cookieOf("bob") });
    expect(page.status).toBe(200);
    expect(page.body).toContain('action="/logout"');
    expect(page.body).not.toMatch(/(?:href|action)="[^"]*evil/);
  });

  test("a visitor without a session logs in first, and goes where he wanted to", async () => {
    const { status, location } = await latchkey.send(path);
    expect([status, location]).toEqual([302, "/login?return_to=https%3A%2F%2Fapp.example%2Fnotes"]);
  });
});
