import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";

const folder = "public/build";
const bundle = new Map<string, string>();
let server = "";

beforeAll(async () => {
  for (const entry of await readdir(folder, { recursive: true })) {
    if (entry.endsWith(".js")) bundle.set(entry, await readFile(join(folder, entry), "utf8"));
  }
  server = await readFile("build/index.js", "utf8");
});

/** Strings of the server's code. Each must be in the server's build, so that the search below can fail. */
const serverCode = [
  "pg_advisory_xact_lock",
  "argon2id",
  "@mikro-orm",
  "pg-boss",
  "oslo/",
  "password_resets",
  "IDP_CLIENT_SECRET",
  "DATABASE_URL",
  "api.postmarkapp.com",
  "node:crypto",
  "process.env",
];

test("every page has its script in the bundle", () => {
  const scripts = [...bundle.keys()].join("\n");
  for (const page of ["login", "register", "forgot-password", "reset-password", "dashboard"]) {
    expect(scripts).toMatch(new RegExp(`^routes/${page}-\\w+\\.js$`, "m"));
  }
});

test.each([...serverCode, "#server", "sourceMappingURL"])(
  "the browser's bundle contains no server code: %s",
  (name) => {
    if (serverCode.includes(name)) expect(server).toContain(name);
    const holders = [...bundle].filter(([, code]) => code.includes(name)).map(([file]) => file);
    expect(holders).toEqual([]);
  },
);

test.each([
  "@mikro-orm/migrations",
  "@zxcvbn-ts/core",
  "@simplewebauthn/server",
  "@electric-sql/pglite",
  "prom-client",
])("the server's build has no static import of %s", (name) => {
  expect(server).not.toContain(` from "${name}"`);
});

test("the production build has no page for developers", { tags: ["13.4.2", "15.2.3"] }, () => {
  expect(server).toContain('"routes/auth.passkey"');
  for (const code of [server, ...bundle.values()]) {
    expect(code).not.toMatch(/routes.dev\.|dev[/.]mails|signInWithoutProof|maxPreviewed/i);
  }
});
