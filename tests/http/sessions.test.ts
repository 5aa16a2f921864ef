import net from "node:net";
import { expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey();

/** Whether the dashboard is 200 with this `Cookie` header. */
const isSignedIn = async (Cookie: string) => (await latchkey.visit().get("/dashboard", { Cookie })).status === 200;

test("a request whose session ends while it is in flight does not renew the session", async () => {
  const visitor = await latchkey.register("in-flight@example.com");
  const { cookie } = visitor;
  const socket = net.connect(latchkey.port(), "127.0.0.1");
  const answered = new Promise<string>((resolve) => {
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("close", () => resolve(answer));
  });
  const field = "intent=send-password-link";
  const head = [
    "POST /dashboard HTTP/1.1",
    `Host: localhost:${latchkey.port()}`,
    "Connection: close",
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${field.length}`,
    `Cookie: ${cookie}`,
  ];
  await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\nintent=`, resolve));
  await visitor.post("/logout");
  socket.write(field.slice("intent=".length));
  const answer = await answered;
  expect(answer).toMatch(/^HTTP\/1\.1 302 /);
  expect(answer).toMatch(/\r\nlocation: \/login\r\n/i);
  expect(answer).not.toMatch(/\r\nset-cookie/i);
  expect(await isSignedIn(cookie)).toBe(false);
});

test("a session is ended by a logout among 20 simultaneous requests", async () => {
  const visitor = await latchkey.register("crowded@example.com");
  const { cookie } = visitor;
  const reads = Array.from({ length: 20 }, () => latchkey.visit().get("/dashboard", { Cookie: cookie }));
  await Promise.all([...reads, visitor.post("/logout")]);
  expect(await isSignedIn(cookie)).toBe(false);
});

test("a signed-in page is no-store, and not shown without a session", async () => {
  const visitor = await latchkey.register("private@example.com");
  for (const path of ["/dashboard", "/dashboard.data"]) {
    const answer = await visitor.get(path);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.body).toContain("private@example.com");
    expect((await latchkey.visit().get(path)).body).not.toContain("private@example.com");
  }
});
