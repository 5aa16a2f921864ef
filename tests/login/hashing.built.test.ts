import { setMaxListeners } from "node:events";
import { verify } from "@node-rs/argon2";
import { expect, test } from "vitest";
import { newClientAddress } from "../support/client-address";
import { commandHere } from "../support/command";
import { goodPassword } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";
import { scrape } from "../support/scrape";
import { freePort } from "../support/server";
import { until } from "../support/until";

const metricsPort = await freePort();
const latchkey = runLatchkey({ HASHES: "real", METRICS_PORT: String(metricsPort) });

/** Resolves when the server has answered, or the client has closed the connection. */
async function post(email: string, signal: AbortSignal): Promise<void> {
  const body = new URLSearchParams({ email, password: "not the password" });
  const headers = { Origin: latchkey.url(), "X-Forwarded-For": newClientAddress() };
  await fetch(`${latchkey.url()}/login`, { method: "POST", headers, body, signal }).catch(() => {});
}

test("logins whose clients have closed the connection are not evaluated", async () => {
  const email = "patient@example.com";
  await latchkey.register(email);
  const visitor = latchkey.visit();
  const hangUp = new AbortController();
  setMaxListeners(60, hangUp.signal);
  await latchkey.flushed();
  const start = latchkey.output().length;
  const output = () => latchkey.output().slice(start);
  const posts = Array.from({ length: 60 }, (_, at) => post(`gone-${at}@example.com`, hangUp.signal));
  while (!output().includes("login.failed")) await latchkey.nextOutput();
  hangUp.abort();
  await Promise.all(posts);
  await latchkey.send("/login"); // its line in the log comes after the server has seen the closed connections
  expect((await visitor.logIn(email)).status).toBe(302);
  while (!output().includes("login.succeeded")) await latchkey.nextOutput();
  const [, later = ""] = output().split("GET /login ");
  expect(later).toContain("login.succeeded");
  expect(later.split("login.failed").length - 1).toBeLessThanOrEqual(3); // those that were being hashed
});

test("hashes that wait are counted while they wait", async () => {
  const waiting = async () => (await scrape(metricsPort)).get("latchkey_hashes_waiting") ?? Number.NaN;
  const logins = Promise.all(Array.from({ length: 30 }, (_, at) => latchkey.visit().logIn(`rush-${at}@example.com`)));
  await until(async () => (await waiting()) > 0, "a hash waits");
  await logins;
  expect(await waiting()).toBe(0);
});

test("a stored hash was made by Argon2id with 19 MiB in two passes", { tags: "11.4.2" }, async () => {
  const email = "stored@example.com";
  await latchkey.register(email);
  const { stdout } = await commandHere(["user", "export"], { DATABASE_URL: latchkey.databaseUrl() });
  const exported = stdout.split("\n").find((line) => line.includes(email)) ?? "";
  const { passwordHash } = JSON.parse(exported);
  expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verify(passwordHash, goodPassword)).toBe(true); // with what the hash states
});
