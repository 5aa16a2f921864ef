import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { send } from "../support/http";
import { type RunningServer, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { Visitor } from "../support/visitor";

const copied = [
  ...["app", "server", "public", "lint"],
  ...["biome.json", "package.json", "remix.config.js", "remix.env.d.ts", "tsconfig.json"],
];

/** The files that docs/extending.md shows under "Build behind the door": each names its path in its first line. */
async function documentedFiles(): Promise<{ path: string; text: string }[]> {
  const [, chapter = ""] = (await readFile("docs/extending.md", "utf8")).split("\n## Build behind the door\n");
  const [section = ""] = chapter.split("\n## ");
  return [...section.matchAll(/^```tsx?\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, path = "", text = ""]) => ({
    path,
    text,
  }));
}

const nestedPages = {
  "app/routes/lists.tsx": `export { Outlet as default } from "@remix-run/react";`,
  "app/routes/lists._index.tsx": "export default () => <p>All lists</p>;",
  "app/routes/lists.$id.tsx": "export default () => <p>One list</p>;",
};

/** Runs a program of Node in the copy; rejects when it fails. */
async function runNode(...program: string[]): Promise<void> {
  const { PATH } = process.env;
  await promisify(execFile)(process.execPath, program, { cwd: folder, env: { PATH, NODE_ENV: "production" } });
}

let folder: string;
let database: TestDatabase;
let server: RunningServer;
let paths: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-own-"));
  await Promise.all(copied.map((name) => cp(name, join(folder, name), { recursive: true })));
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  const files = await documentedFiles();
  paths = files.map(({ path }) => path);
  const nested = Object.entries(nestedPages).map(([path, text]) => ({ path, text }));
  for (const { path, text } of [...files, ...nested]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await runNode("node_modules/@remix-run/dev/dist/cli.js", "build");
  database = await createDatabase();
  server = await startServer({ DATABASE_URL: database.url }, join(folder, "build/index.js"));
}, 300_000);

afterAll(async () => {
  await server.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function register(visitor: Visitor, loginPage: string) {
  const email = `${crypto.randomUUID()}@example.com`;
  return { email, done: await visitor.register(server, email, loginPage.replace("/login", "/register")) };
}

test("docs/extending.md shows every file of an own page", () => {
  expect(paths).toEqual([
    "app/routes/hello.tsx",
    "server/database/own/note.ts",
    "server/database/own/Migration20270101000000.ts",
    "server/database/own/index.ts",
    "server/features/notes.ts",
    "app/routes/notes.tsx",
  ]);
});

test("the lint of npm run check finds nothing in these files", async () => {
  await runNode("node_modules/@biomejs/biome/bin/biome", "check", "--vcs-enabled=false", ...paths);
  await runNode("--import", "tsx", "lint/texts.ts");
});

describe("the page of twenty lines", () => {
  const page = "/hello?from=mail";
  const loginPage = "/login?return_to=%2Fhello%3Ffrom%3Dmail";

  async function signInForPage() {
    const visitor = new Visitor(server.url);
    return { visitor, ...(await register(visitor, loginPage)) };
  }

  test("sends a visitor to the login page", async () => {
    expect(await new Visitor(server.url).get(page)).toMatchObject({ status: 302, location: loginPage });
  });

  test("is where a sign-in for it ends", async () => {
    const { done } = await signInForPage();
    expect(done).toMatchObject({ status: 302, location: page });
  });

  test("greets who is signed in", async () => {
    const { visitor, email } = await signInForPage();
    const { status, body } = await visitor.get(page);
    expect(status).toBe(200);
    expect(body).toContain(`Hello, ${email}`);
  });

  test("has a form that logs out", async () => {
    const { visitor } = await signInForPage();
    const { body } = await visitor.get(page);
    const [, logout = ""] = /<form method="post" action="([^"]+)"[^>]*><button type="submit">Log out</.exec(body) ?? [];
    expect(await visitor.post(logout)).toMatchObject({ status: 302, location: "/login" });
    expect((await visitor.get("/hello")).status).toBe(302);
  });
});

test("a nested page tells the browser of the index pages above it alone", async () => {
  const { body } = await new Visitor(server.url).get("/lists/1");
  expect(body).toContain("<p>One list</p>");
  const [, manifest = ""] = /__remixManifest = (\{[\s\S]*?\n\});/.exec(body) ?? [];
  expect(Object.keys(JSON.parse(manifest).routes).toSorted()).toEqual([
    "root",
    "routes/_index",
    "routes/lists",
    "routes/lists.$id",
    "routes/lists._index",
  ]);
});

async function storeNote() {
  const visitor = new Visitor(server.url);
  const { email } = await register(visitor, "/login?return_to=/notes");
  expect(await visitor.post("/notes", { text: "Buy <b>lamps</b>" })).toMatchObject({ status: 302, location: "/notes" });
  return { email, visitor };
}

test("a note is stored in a table of one's own", async () => {
  const { visitor } = await storeNote();
  expect((await visitor.get("/notes")).body).toContain("<p>Buy &lt;b&gt;lamps&lt;/b&gt;</p>");
});

test("a note without a session is not stored", async () => {
  expect((await send(server.url, "/notes", { form: { text: "x" } })).location).toBe("/login?return_to=%2Fnotes");
});

test("the service is ready with a migration of one's own", async () => {
  expect(await send(server.url, "/readyz")).toMatchObject({ status: 200 });
});

test("notes are deleted with their account", async () => {
  const { visitor, email } = await storeNote();
  expect(await visitor.post("/dashboard", { intent: "delete-account", email })).toMatchObject({
    location: "/account-deleted",
  });
  expect(await server.stop()).toBe(0);
  const { orm, close } = await openDatabase(server.databaseUrl);
  const ofAccount = "select count(*)::int as notes from notes where user_id not in (select id from users)";
  const left = await orm.em.fork().execute(ofAccount);
  const users = await orm.em.fork().execute("select from users where email = ?", [email]);
  await close();
  expect([left, users]).toEqual([[{ notes: 0 }], []]);
});
