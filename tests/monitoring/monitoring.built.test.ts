import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { verify } from "@node-rs/argon2";
import { beforeAll, describe, expect, test } from "vitest";
import { newClientAddress } from "../support/client-address";
import { commandHere } from "../support/command";
import { goodPassword } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";
import { scrape } from "../support/scrape";
import { json, runScriptedProvider } from "../support/scripted-provider";
import { freePort } from "../support/server";
import { until } from "../support/until";

const port = await freePort();
const provider = await runScriptedProvider();
const latchkey = runLatchkey({ ...provider.settings.oidc, METRICS_PORT: String(port), HASHES: "real" });

const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);

/** How much each series of a name grew while `work` ran, until `expected` did. */
async function growth(name: string, expected: Record<string, number>, work: () => Promise<unknown>): Promise<void> {
  const before = await scrape(port);
  await work();
  let grown: Record<string, number> = {};
  const read = async () => {
    const after = [...(await scrape(port))].filter(([series]) => series.startsWith(`${name}{`));
    const differences = after.map(([series, value]): [string, number] => [
      series.slice(name.length),
      value - (before.get(series) ?? 0),
    ]);
    grown = Object.fromEntries(differences.filter(([, difference]) => difference !== 0));
    return Object.keys(expected).every((labels) => grown[labels] === expected[labels]);
  };
  await until(read, `${name} grows`, 5_000).catch(() => {});
  expect(grown).toEqual(expected);
}

test("GET /metrics answers in Prometheus' text format", async () => {
  const metrics = await ask("/metrics");
  expect(metrics.status).toBe(200);
  expect(metrics.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(metrics.headers.get("Cache-Control")).toBe("no-store");
  expect((await ask("/metrics?collect=all")).status).toBe(200);
});

const otherPaths = ["/", "/metrics/", "/metrics%2f", "/login", "/healthz"].map((path): [string, string] => [
  "GET",
  path,
]);
const otherMethods = ["HEAD", "POST", "PUT", "OPTIONS"].map((method): [string, string] => [method, "/metrics"]);

test.each([...otherPaths, ...otherMethods])(
  "%s %s on the port of the metrics is an empty 404",
  async (method, path) => {
    const answer = await ask(path, { method });
    expect([answer.status, await answer.text()]).toEqual([404, ""]);
  },
);

test("the port of the pages has no /metrics", { tags: "13.4.5" }, async () => {
  const answer = await latchkey.send("/metrics");
  expect(answer.status).toBe(404);
  expect(answer.body).not.toContain("latchkey_events_total");
});

const scrapeThrice = async () => {
  for (let times = 0; times < 3; times++) await scrape(port);
};

test("a scrape leaves no line in the access log", async () => {
  await latchkey.flushed();
  const before = latchkey.output().length;
  await scrapeThrice();
  await latchkey.flushed();
  expect(latchkey.output().slice(before)).not.toContain("metrics");
});

test("a scrape is not counted as a request", async () => {
  await latchkey.flushed();
  await growth("latchkey_http_request_duration_seconds_count", {}, scrapeThrice);
});

describe("requests are counted", () => {
  const counted = "latchkey_http_request_duration_seconds_count";
  const label = (route: string, method: string, status: number) =>
    `{route="${route}",method="${method}",status="${status}"}`;

  test("by their route", () => {
    const expected = {
      [label("routes/login", "GET", 200)]: 2,
      [label("routes/_index", "GET", 202)]: 1, // a page's data
      [label("routes/auth.idp_.callback", "GET", 302)]: 1,
      [label("build", "GET", 200)]: 2,
    };
    return growth(counted, expected, async () => {
      const { body } = await latchkey.send("/LOGIN/?notice=idp_failed");
      const [first = "", second = ""] = new Set(body.match(/\/build\/[\w/.-]+\.(?:js|css)/g));
      for (const path of ["/login", first, second, "/_root.data"]) await latchkey.send(path);
      await latchkey.sendPlainly("/auth/idp/callback?code=a&state=b");
    });
  });

  test("by their status", () => {
    const expected = { [label("routes/login", "POST", 422)]: 1, [label("routes/$", "GET", 400)]: 1 };
    return growth(counted, expected, async () => {
      await latchkey.visit().logIn("nobody@example.com");
      await latchkey.send("/%ff");
    });
  });

  test("by their method", () =>
    growth(counted, { [label("/healthz", "HEAD", 200)]: 1 }, () => latchkey.send("/healthz", { method: "HEAD" })));

  test("in one series for unknown methods", () =>
    growth(counted, { [label("routes/login", "other", 405)]: 3 }, async () => {
      for (const method of ["PUT", "DELETE", "PROPFIND"]) await latchkey.send("/login", { method });
    }));

  test("in one series for unknown paths", () =>
    growth(counted, { [label("routes/$", "GET", 404)]: 10 }, async () => {
      for (let at = 0; at < 10; at++) await latchkey.send(`/${crypto.randomUUID()}/${"a".repeat(at)}`);
    }));
});

test("the time of a request is in the histogram", async () => {
  const labels = '{route="/readyz",method="GET",status="200"}';
  await latchkey.send("/readyz");
  const sum = async () => (await scrape(port)).get(`latchkey_http_request_duration_seconds_sum${labels}`) ?? 0;
  await until(async () => (await sum()) > 0.0001, "the request is counted");
  expect(await sum()).toBeLessThan(10);
});

describe("events are counted", () => {
  const events = "latchkey_events_total";

  test("by their name", () =>
    growth(
      events,
      {
        '{event="registration.requested"}': 1,
        '{event="registration.sent"}': 1,
        '{event="registration.completed"}': 1,
        '{event="login.succeeded"}': 1,
      },
      async () => {
        await latchkey.register("counted@example.com");
        await latchkey.visit().logIn("counted@example.com");
      },
    ));

  test("by their reason", async () => {
    await latchkey.register("refused@example.com");
    await latchkey.flushed();
    await growth(events, { '{event="login.failed",reason="wrong_credentials"}': 2 }, async () => {
      await latchkey.visit().logIn("refused@example.com", "not the password");
      await latchkey.visit().logIn("unknown@example.com");
    });
  });

  test("with few reasons for the statuses that a provider answers with", () =>
    growth(
      events,
      {
        '{event="idp.started"}': 4,
        '{event="idp.failed",reason="exchange: status 4xx"}': 3,
        '{event="idp.failed",reason="exchange: status 5xx"}': 1,
      },
      async () => {
        for (const status of [400, 401, 418, 503]) {
          provider.answerWith({ token: json({}, status) });
          await latchkey.visit().signInExternally();
        }
      },
    ));

  test("from zero", async () => {
    const series = await scrape(port);
    for (const reason of ["recipient_refused", "message_refused", "retries_exhausted"]) {
      expect(series.get(`latchkey_events_total{event="mail.failed",reason="${reason}"}`)).toBe(0);
    }
  });
});

test("a scrape says that the database answers", async () => {
  expect((await scrape(port)).get("latchkey_database_up")).toBe(1);
});

test("a scrape has the connections of the pool", async () => {
  const series = await scrape(port);
  const connections = (state: string) => series.get(`latchkey_database_connections{state="${state}"}`) ?? Number.NaN;
  expect(connections("used") + connections("free")).toBeGreaterThanOrEqual(1);
  expect(series.get("latchkey_database_acquires_waiting")).toBeGreaterThanOrEqual(0);
});

test("a scrape has the jobs that wait", async () => {
  const series = await scrape(port);
  expect(series.get('latchkey_jobs_waiting{state="retry"}')).toBe(0);
  expect(series.get('latchkey_job_oldest_seconds{state="retry"}')).toBe(0);
});

test("a scrape has Node's metrics", async () => {
  const series = await scrape(port);
  expect(series.get("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(series.has("nodejs_eventloop_lag_max_seconds")).toBe(true);
});

describe("a scrape", () => {
  let text: string;

  beforeAll(async () => {
    const email = `visitor-${crypto.randomUUID()}@example.com`;
    const visitor = await latchkey.register(email);
    await latchkey.resetLink(email, visitor);
    await visitor.get("/visited/7b0f3a");
    await visitor.get("/dashboard");
    text = await (await ask("/metrics")).text();
  });

  test("tells nothing of a visitor", () => {
    expect(text).not.toMatch(/@|visit|7b0f3a|example|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}|127\.0\.0\.1/);
  });

  test("has known labels alone", () => {
    const labelNames = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name));
    const ours = ["event", "reason", "outcome", "route", "method", "status", "le", "state"];
    const nodes = ["version", "major", "minor", "patch", "type", "space", "kind"];
    expect([...labelNames].filter((name) => ![...ours, ...nodes].includes(name ?? ""))).toEqual([]);
  });
});

describe("a scrape has what the queries ask for", () => {
  const operands = /\b((?:latchkey|process|nodejs)_\w+)(?:\{([^}]*)\})?/g;

  let series: string[];

  beforeAll(async () => {
    await latchkey.register(`${crypto.randomUUID()}@example.com`);
    await latchkey.send("/login");
    await until(
      async () => [...(await scrape(port)).keys()].some((key) => key.includes('"routes/login"')),
      "a request",
    );
    series = [...(await scrape(port)).keys()];
  });

  function expectInScrape(queries: string[], fewer: number): void {
    expect(queries.length).toBeGreaterThan(fewer);
    const missing = queries
      .flatMap((query) => [...query.matchAll(operands)])
      .filter(([, name, matchers = ""]) => {
        const labels = [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label);
        const own = labels.filter((label) => label !== "instance"); // added by Prometheus
        return !series.some(
          (one) => one.split("{", 1)[0] === name && own.every((label) => new RegExp(`[{,]${label}="`).test(one)),
        );
      })
      .map(([operand]) => operand);
    expect(missing).toEqual([]);
  }

  test("of deploy/grafana.json", async () => {
    const { panels } = JSON.parse(await readFile("deploy/grafana.json", "utf8"));
    const queries = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
    expectInScrape(queries, 20);
  });

  test("of docs/monitoring.md", async () => {
    const [, alerts = ""] = /\n## Alerts\n(.*?)\n## /s.exec(await readFile("docs/monitoring.md", "utf8")) ?? [];
    const codes = [...alerts.replace(/```.*?```/s, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
    const queries = codes.filter((code) => / (?:==|>) /.test(code));
    expectInScrape(queries, 10);
  });
});

describe("the log", () => {
  test("has the events of a registration with the ids of their requests and jobs", async () => {
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    const line = { level: 30, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) };
    expect(await latchkey.eventsOf(() => latchkey.register("logged@example.com"), 1)).toEqual([
      { ...line, requestId: uuid, event: "registration.requested" },
      { ...line, jobId: uuid, event: "registration.sent" },
      { ...line, requestId: uuid, event: "registration.completed", userId: uuid },
    ]);
  });

  test("has no line with an address", async () => {
    await latchkey.eventsOf(async () => {
      await latchkey.visit().logIn("s3cret-name@example.com", "s3cret-word");
      await latchkey.visit().askForReset("s3cret-name@example.com");
      await latchkey.register("the-last-one@example.com");
    });
    const lines = latchkey.output().replace(/^--- mail ---\n[\s\S]*?\n--- end mail ---$/gm, "");
    expect(lines).not.toMatch(/@|%40|s3cret/);
  });

  test("has a new id for every request", async () => {
    const events = await latchkey.eventsOf(async () => {
      await latchkey.visit().logIn("nobody@example.com", "a wrong one");
      await latchkey.visit().logIn("nobody@example.com", "a wrong one");
      await latchkey.visit().askForReset("nobody@example.com");
      await latchkey.register("one-more@example.com");
    });
    const ids = events.filter(({ jobId }) => !jobId).map(({ requestId }) => requestId);
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
  });
});

describe("hashes", () => {
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
    const waiting = async () => (await scrape(port)).get("latchkey_hashes_waiting") ?? Number.NaN;
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
});

test("the open connection of a scraper does not delay the end", async () => {
  await scrape(port); // fetch keeps its connection open
  expect(await latchkey.stop()).toBe(0);
});
