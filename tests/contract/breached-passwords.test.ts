import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { isBreached } from "#server/features/visitor/password-policy";
import { configure } from "../support/configure";
import { recordLog } from "../support/logged";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";

const outgoing = recordOutgoingCalls();
const log = recordLog();

const password = "correct hörse";
const hash = createHash("sha1").update(password, "utf8").digest("hex").toUpperCase();
const [prefix, suffix] = [hash.slice(0, 5), hash.slice(5)];
const range = `https://api.pwnedpasswords.com/range/${prefix}`;
const other = `${"0".repeat(34)}1:77`;

beforeEach(() => void configure({ BREACHED_PASSWORDS: "on" }));

const lookUp = (answer: Answer, url = range) => {
  outgoing.answer("GET", url, answer);
  return isBreached(password);
};

test("sends five digits of the hash with a request for padding", async () => {
  expect(await lookUp({ body: other })).toBe(false);
  expect(outgoing.calls()).toEqual([
    {
      method: "GET",
      url: range,
      headers: {
        accept: "text/plain",
        "add-padding": "true",
        host: "api.pwnedpasswords.com",
      },
      body: "",
    },
  ]);
});

test("waits for two seconds", async () => {
  await lookUp({ body: other });
  expect(outgoing.deadlines()).toEqual([2_000]);
});

test.each([
  ["in the middle", `${other}\r\n${suffix}:3\r\n${other}`, true],
  ["as the last line, in lower case", `${other}\n${suffix.toLowerCase()}:1`, true],
  ["as padding", `${other}\r\n${suffix}:0`, false],
  ["with more digits", `${other}\n${suffix}0:9`, false],
  ["without a count", `${other}\n${suffix}`, false],
  ["without a number", `${other}\n${suffix}:many`, false],
  ["not at all", other, false],
])("the password's hash %s", { tags: "6.2.12" }, async (_where, body, expected) => {
  expect(await lookUp({ body })).toBe(expected);
  expect(log.events()).toEqual([]);
});

describe.each<[string, Answer]>([
  ["status 503", { status: 503 }],
  ["status 429", { status: 429, headers: { "retry-after": "2" } }],
  ["redirect 302", { status: 302, headers: { location: "https://elsewhere.example/" } }],
  ["unexpected", { body: `<p>${suffix}:1</p>` }],
  ["unexpected", { body: "" }],
  ["unreachable", { broken: true }],
  ["timeout", { stall: "before the headers" }],
  ["timeout", { body: `${suffix}:1\r\n`.repeat(9), stall: "in the middle of the body" }],
  ["too_large", { body: Buffer.alloc(1_048_577, "a") }],
])("with %s", (reason, answer) => {
  test("the password is allowed", async () => {
    expect(await lookUp(answer)).toBe(false);
  });

  test("the log says why", async () => {
    await lookUp(answer);
    expect(log.events()).toEqual([{ event: "password.not_looked_up", reason }]);
  });

  test("the log has no digit of the hash", async () => {
    await lookUp(answer);
    expect(JSON.stringify(log.lines())).not.toContain(prefix);
  });
});

test("another range service is asked at its base URL", async () => {
  configure({ BREACHED_PASSWORDS: "on", BREACHED_PASSWORDS_URL: "http://127.0.0.1:9/pwned/" });
  expect(await lookUp({ body: `${suffix}:1` }, `http://127.0.0.1:9/pwned/range/${prefix}`)).toBe(true);
});

test("off: nothing is sent", async () => {
  configure({});
  expect(await isBreached(password)).toBe(false);
  expect(outgoing.calls()).toEqual([]);
});
