import { createServer, type IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { consent } from "../support/consent";
import { listen } from "../support/listen";
import { newPassword } from "../support/passwords";
import { exchange } from "../support/raw-http";
import { createEmptyDatabase, freePort, type RunningServer, startServer, type TestDatabase } from "../support/server";
import { until } from "../support/until";
import { publicHost, visitOverTls } from "./https-visitor";
import { type ProxyName, type RunningProxy, startProxy } from "./proxies";

const origin = `https://${publicHost}`;
const callback = `${origin}/auth/idp/callback`;
const token = "0123456789abcdef".repeat(4);
const unavailable = "The service is restarting. Please try again in a few seconds.";

const forged = {
  "X-Forwarded-For": "203.0.113.7",
  "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "http",
  "X-Real-IP": "203.0.113.7",
  Forwarded: "for=203.0.113.7;host=evil.example;proto=http",
};

/** What nobody may find in a log: the address and the token of a link, encoded or not. */
const leaksIn = (logs: string) => [token.slice(0, 32), "ada%40", "ada@"].filter((text) => logs.includes(text));

/** A server in the place of Latchkey that keeps the headers of every request and counts connections. */
async function startRecorder() {
  const received: IncomingHttpHeaders[] = [];
  const connections = new Set<Socket>();
  const server = createServer(({ headers, socket }, response) => {
    received.push(headers);
    connections.add(socket);
    response.end("recorded");
  });
  return { ...(await listen(server)), received, connections };
}

describe.each<ProxyName>(["nginx", "Caddy"])("%s in front of Latchkey", (name) => {
  let database: TestDatabase;
  let provider: IdentityProvider;
  let latchkey: RunningServer;
  let proxy: RunningProxy;

  beforeAll(async () => {
    database = await createEmptyDatabase("embedded");
    provider = await startIdentityProvider(callback);
    const address = { HOST: "127.0.0.1", APP_URL: origin, TRUST_PROXY: "1" };
    latchkey = await startServer({ ...address, DATABASE_URL: database.url, ...provider.settings });
    proxy = await startProxy(name, latchkey.port);
  });

  afterAll(async () => {
    await proxy.stop();
    await latchkey.stop();
    await provider.stop();
    await database.drop();
  });

  const visit = (address?: string) => visitOverTls(proxy.port, proxy.ca, address);

  test("http is redirected to https", async () => {
    const request = ["GET /login?notice=idp_failed HTTP/1.1", `Host: ${publicHost}`, "Connection: close"];
    const { status, headers } = await exchange(proxy.httpPort, request);
    expect({ status, location: headers.location }).toEqual({
      status: name === "nginx" ? 301 : 308,
      location: `${origin}/login?notice=idp_failed`,
    });
  });

  test("a visitor registers", async () => {
    const visitor = visit();
    const registered = await visitor.register(latchkey, "registers@example.com");
    expect(registered).toMatchObject({ status: 302, location: "/dashboard" });
    expect((await visitor.get("/dashboard")).body).toContain("registers@example.com");
  });

  test("a visitor resets the password by mail", async () => {
    const visitor = visit();
    const email = "resets@example.com";
    await visitor.register(latchkey, email);
    await visitor.post("/logout");
    await visitor.askForReset(email);
    const { link } = await latchkey.mail(email, "Reset your password");
    expect(link?.origin).toBe(origin);
    const reset = await visitor.reset(Object.fromEntries(link?.searchParams ?? []));
    expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
    expect((await visitor.logIn(email, newPassword)).location).toBe("/dashboard");
  });

  test("a login sets Secure cookies", async () => {
    const email = "logs-in@example.com";
    await visit().register(latchkey, email);
    const { location, setCookies } = await visit().logIn(email);
    expect(location).toBe("/dashboard");
    expect(setCookies.map((line) => /^(\S+?)=.*; HttpOnly; .*; Secure$/.exec(line)?.[1]).sort()).toEqual([
      "__Host-device",
      "__Host-session",
      "last_sign_in",
    ]);
  });

  test("a visitor signs in with the provider", async () => {
    const guest = visit();
    const left = await guest.get("/auth/idp");
    const back = await guest.get(await consent(left.location ?? "", "grace@example.com"));
    expect(back).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test.each([20_000, 80_000])("a form of %d bytes is refused with 413", async (length) => {
    const answer = await visit().logIn("ada@example.com", "x".repeat(length));
    expect(answer.status).toBe(413);
    const byLatchkey = answer.headers.has("Content-Security-Policy");
    expect(byLatchkey).toBe(name === "Caddy" || length < 65_536);
  });

  test("another host's name does not reach Latchkey", async () => {
    const { status, headers, body } = await visit().get("/login", { Host: "evil.example" });
    expect({ status, policy: headers.get("Content-Security-Policy"), body }).toEqual(
      name === "nginx"
        ? { status: 421, policy: null, body: expect.stringContaining("421 Misdirected Request") }
        : { status: 200, policy: null, body: "" },
    );
  });

  test("the proxy logs no token", async () => {
    const query = `email=ada%40example.com&token=${token}`;
    const referrer = { Referer: `${origin}/reset-password?${query}` };
    for (const path of [`/reset-password?${query}`, `/reset-password%3F${query}`, `/reset-password/${token}`]) {
      expect((await visit().get(path, referrer)).status).toBeLessThan(500);
    }
    await visit().get("/the-last-one");
    await until(async () => (await proxy.logs()).includes("/the-last-one"), "the log has the last request");
    const logs = await proxy.logs();
    expect(logs.includes("/reset-password")).toBe(true);
    expect(leaksIn(logs)).toEqual([]);
  });
});

describe.each<ProxyName>(["nginx", "Caddy"])("%s and what Latchkey gets", (name) => {
  describe("in ten requests of one client", () => {
    let recorder: Awaited<ReturnType<typeof startRecorder>>;

    beforeAll(async () => {
      recorder = await startRecorder();
      const proxy = await startProxy(name, recorder.port);
      const visitor = visitOverTls(proxy.port, proxy.ca, "127.0.0.5");
      for (let at = 0; at < 10; at++) expect((await visitor.get("/login", forged)).body).toBe("recorded");
      await proxy.stop();
      await recorder.stop();
    });

    test("is no forwarded header of the client's", { tags: ["4.1.3", "15.3.4"] }, () => {
      expect(recorder.received).toHaveLength(10);
      for (const headers of recorder.received) {
        expect(headers).toMatchObject({
          host: publicHost,
          "x-forwarded-for": "127.0.0.5",
          "x-forwarded-host": publicHost,
          "x-forwarded-proto": "https",
        });
      }
    });

    test("comes through one connection", () => {
      expect(recorder.connections.size).toBe(1);
    });
  });

  describe("while Latchkey is down", () => {
    let port: number;
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    let visitor: ReturnType<typeof visitOverTls>;
    const query = `email=ada%40example.com&token=${token}`;
    const askWithToken = () =>
      visitor.get(`/reset-password?${query}`, { Referer: `${origin}/reset-password?${query}` });

    beforeAll(async () => {
      port = await freePort();
      proxy = await startProxy(name, port);
      visitor = visitOverTls(proxy.port, proxy.ca);
    });

    afterAll(() => proxy.stop());

    test("is answered 503 with Retry-After", async () => {
      const { status, headers, body } = await askWithToken();
      expect({ status, body: body.trim() }).toEqual({ status: 503, body: unavailable });
      expect([headers.get("Retry-After"), headers.get("Cache-Control")]).toEqual(["5", "no-store"]);
    });

    test("leaves no token in a log", async () => {
      await askWithToken();
      await until(async () => (await proxy.logs()).includes("/reset-password"), "the log has the request");
      expect(leaksIn(await proxy.logs())).toEqual([]);
    });

    test("is answered as soon as it is back", async () => {
      await askWithToken();
      const database = await createEmptyDatabase("embedded");
      const address = { PORT: String(port), HOST: "127.0.0.1", TRUST_PROXY: "1" };
      const latchkey = await startServer({ ...address, DATABASE_URL: database.url });
      expect((await visitor.get("/login")).status).toBe(200);
      await latchkey.stop();
      await database.drop();
    });
  });
});
