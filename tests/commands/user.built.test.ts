import { expect, test } from "vitest";
import { latchkey } from "../support/command";
import { twice } from "../support/passwords";
import { createEmptyDatabase, startServer } from "../support/server";
import { Visitor } from "../support/visitor";

const email = "ada@example.com";
const link = /^https:\/\/login\.example\.com\/reset-password\?email=ada%40example\.com&token=([0-9a-f]{64})\n$/m;

test("an application's tests: migrate, create, start and a password by the printed link make a signed-in user", async () => {
  const database = await createEmptyDatabase();
  const settings = { DATABASE_URL: database.url, APP_URL: "https://login.example.com" };
  expect(await latchkey(["database", "migrate"], settings)).toMatchObject({ status: 0 });
  const { stdout, events, ...created } = await latchkey(
    ["user", "create", " Ada@Example.com", "--name", "Ada L."],
    settings,
  );
  expect(created).toEqual({ status: 0, stderr: "" });
  const [, userId] = /^User id: (.+)\n/.exec(stdout) ?? [];
  expect(events).toEqual([
    { event: "registration.completed", actor: "cli", userId },
    { event: "password_reset.requested", actor: "cli", userId },
  ]);
  const account = JSON.parse((await latchkey(["user", "show", email, "--json"], settings)).stdout);
  expect(account).toMatchObject({ id: userId, email, name: "Ada L.", password: null, resetLinks: 1 });

  const server = await startServer({ DATABASE_URL: database.url });
  const visitor = new Visitor(server.url);
  const password = "correct horse battery staple";
  const token = link.exec(stdout)?.[1] ?? "";
  const reset = await visitor.post("/reset-password", { email, token, ...twice(password) });
  expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(await visitor.logIn(email, password)).toMatchObject({ status: 302, location: "/dashboard" });
  const verified = await visitor.get("/auth/verify");
  expect([verified.status, verified.headers.get("Remote-User")]).toEqual([200, userId]);
  await server.stop();
  await database.drop();
});
