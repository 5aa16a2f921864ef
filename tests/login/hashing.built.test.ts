import { setMaxListeners } from "node:events";
import http from "node:http";
import { expect, test } from "vitest";
import { newClientAddress } from "../support/client-address";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey();

const times = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

function postAndDisconnect(email: string, signal: AbortSignal): Promise<void> {
  const body = new URLSearchParams({ email, password: "not the password" }).toString();
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": body.length,
    Origin: latchkey.url(),
    "X-Forwarded-For": newClientAddress(),
  };
  return new Promise((resolve) => {
    const request = http.request(`${latchkey.url()}/login`, { method: "POST", headers, signal }, (response) =>
      response.resume(),
    );
    request.once("error", () => {});
    request.once("close", resolve);
    request.end(body);
  });
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
  const posts = times(60, (at) => postAndDisconnect(`gone-${at}@example.com`, hangUp.signal));
  while (!output().includes("login.failed")) await latchkey.nextOutput();
  hangUp.abort();
  await posts;
  await latchkey.send("/login"); // its line in the log comes after the server has seen the closed connections
  expect((await visitor.logIn(email)).status).toBe(302);
  while (!output().includes("login.succeeded")) await latchkey.nextOutput();
  const [, later = ""] = output().split("GET /login ");
  expect(later).toContain("login.succeeded");
  expect(later.split("login.failed").length - 1).toBeLessThanOrEqual(3); // those that were being hashed
});
