import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { configure } from "../support/configure";
import { recordLog } from "../support/logged";
import { runs } from "../support/property-runs";
import { exchange } from "../support/raw-http";
import { serveVerification } from "../support/verification";

// The seed is new in every run; fast-check prints it with the counterexample when a property fails.
fc.configureGlobal({ verbose: fc.VerbosityLevel.Verbose });

const log = recordLog();
const path = "/auth/verify";
const user = { id: "1", email: "ada@example.com", name: null, signedInAt: new Date() };
const groups: Record<string, string[]> = { member: ["admins"], outsider: [] };
const port = serveVerification({
  findUser: async (token) => ({ ...user, groups: groups[token] ?? [] }),
  findProgram: async () => null,
});
let minute = Date.now();

beforeAll(() => void configure({}));

beforeEach(() => {
  minute += 60_000; // a line is logged again
  vi.spyOn(Date, "now").mockImplementation(() => minute);
});

async function statusFor(name: string, query: string): Promise<number> {
  const lines = [`GET ${path}${query} HTTP/1.1`, "Host: localhost", `Cookie: session=${name}`, "Connection: close"];
  return (await exchange(port(), lines)).status;
}

const warnings = () => log.lines().map((line) => JSON.parse(line));

describe("a query that an operator mistyped", () => {
  const mistyped = [
    ...[
      "?groups=admins",
      "?Group=admins",
      "?group[]=admins",
      "?admins",
      "?group",
      "?%67roup=admins",
      "?group=admins&x=1",
    ],
    ...[
      "??group=admins",
      "?&?group=",
      "???group=",
      "?&",
      "?group=admins?",
      "?group=admins?tokens=on",
      "#group=admins",
      "?#group=admins",
      "?=admins",
    ],
    ...["?max_age", "?max_age=", "?max_age=59", "?max_age=86401", "?max_age=060", "?max_age=1e3", "?max_age=60.5"],
    ...["?max_age=-60", "?max_age=+60", "?max_age=%36%30", "?max_age[]=60", "?Max_Age=60", "?max-age=60"],
    ...["?tokens", "?tokens=", "?tokens=off", "?tokens=ON", "?token=on", "?tokens=on&tokens=on", "?tokens[]=on"],
    ...["?user", "?user=", "?user=id", "?user=EMAIL", "?user=email&user=email", "?User=email", "?user=%65mail"],
    ...["?max_age=60&max_age=60", "?max_age=60&max_age=600", "?group=admins&max_age=6", "?max_age=60&groups=admins"],
  ];

  test.each(mistyped)("%s admits nobody", async (query) => {
    for (const name of ["member", "outsider"]) expect(await statusFor(name, query)).toBe(400);
  });

  test.each([
    ["?groups=admins", "groups"],
    ["?GROUP=admins", "GROUP"],
    ["??group=admins", "?group"],
    ["?group=admins?max_age=60", "group"],
    ["?maxage=60", "maxage"],
    ["?max_age=6", "max_age"],
    ["?max_age=60&max_age=60", "max_age"],
    ["?group=Admins", "group"],
    ["?group=admins,staff", "group"],
    ["?group=", "group"],
  ])("%s is named in the log", async (query, parameter) => {
    await statusFor("member", query);
    const msg =
      "/auth/verify takes group=NAME (of a-z 0-9 . _ -), max_age=SECONDS (60 to 86400), tokens=on and user=email alone.";
    expect(warnings()).toEqual([{ level: 40, time: expect.any(String), parameter, msg }]);
  });

  test("that a stranger wrote is not repeated in the log", { tags: "16.2.5" }, async () => {
    await statusFor("member", "?c4nary=c4nary&groups=c4nary");
    expect(warnings()).toMatchObject([{ level: 40, parameter: "another parameter" }]);
    expect(log.lines().join()).not.toContain("c4nary");
  });

  test("is logged once a minute", async () => {
    for (let count = 0; count < 20; count++) await statusFor("member", `?groups=${count}`);
    minute += 59_999;
    await statusFor("member", "?groups=admins");
    expect(warnings()).toHaveLength(1);
    minute += 1;
    await statusFor("member", "?groups=admins");
    expect(warnings()).toHaveLength(2);
  });
});

describe("user=email", () => {
  const remoteUser = async (query: string) => {
    const lines = [`GET ${path}${query} HTTP/1.1`, "Host: localhost", "Cookie: session=member", "Connection: close"];
    return (await exchange(port(), lines)).headers["remote-user"];
  };

  test.each([
    ["", "1"],
    ["?group=admins", "1"],
    ["?user=email", "ada@example.com"],
    ["?group=admins&max_age=86400&tokens=on&user=email", "ada@example.com"],
  ])("%s names the user %s", async (query, named) => {
    expect(await remoteUser(query)).toBe(named);
  });

  test("admits nobody of another group", async () => {
    expect(await statusFor("outsider", "?user=email&group=admins")).toBe(403);
  });
});

test("no query that names something admits who is in no group", { tags: "8.3.1" }, async () => {
  const unit = fc.constantFrom(..."?&=#;+%[]", "group", "=admins", "admins", "Group", "%26", "%3D", "%00");
  const mangled = fc
    .tuple(
      fc.constantFrom("?group=admins", "?group=staff&group=admins", ""),
      fc.array(unit, { maxLength: 4 }),
      fc.nat(),
    )
    .map(([text, units, seed]) => {
      const at = seed % (text.length + 1);
      return `?${(text.slice(0, at) + units.join("") + text.slice(at)).replace(/^\?/, "")}`;
    });
  const outcomes = { 200: 0, 403: 0, 400: 0 };
  await fc.assert(
    fc.asyncProperty(mangled, async (query) => {
      fc.pre(query !== "?"); // names nothing: everybody who is signed in
      const status = (await statusFor("outsider", query)) as 400 | 403;
      expect([400, 403]).toContain(status);
      outcomes[status]++;
      if ((await statusFor("member", query)) === 200) outcomes[200]++;
    }),
    { numRuns: runs(100) },
  );
  expect(outcomes[200]).toBeGreaterThanOrEqual(runs(4));
  expect(outcomes[403]).toBeGreaterThanOrEqual(runs(10));
  expect(outcomes[400]).toBeGreaterThanOrEqual(runs(20));
});
