import type { LookupAllOptions } from "node:dns";
import dns from "node:dns/promises";
import { createServer, type RequestListener } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { certificateCheck, checkOutside, headersFinding, redirectFinding } from "#server/commands/doctor/outside";
import { loadConfig } from "#server/config";
import { forgedClient } from "#server/features/operator/probe";
import { contentSecurityPolicy } from "#server/rules";
import { listen } from "../support/listen";

const { lookup, resolveTxt } = dns;

function replaceDns(by: Pick<typeof dns, "lookup" | "resolveTxt">): void {
  Object.assign(dns, by);
  syncBuiltinESMExports();
}

let noAnswer = "EAI_AGAIN";

/** No name resolves, but those of this machine. */
beforeAll(() => {
  const refuse = () => Promise.reject(Object.assign(new Error(noAnswer), { code: noAnswer }));
  const lookupHere = (host: string, options: LookupAllOptions) =>
    host.endsWith(".example") ? refuse() : lookup(host, options);
  replaceDns({ lookup: lookupHere as typeof lookup, resolveTxt: refuse as typeof resolveTxt });
});

afterAll(() => replaceDns({ lookup, resolveTxt }));

const origin = "https://login.example";
const day = 86_400_000; // ms

test.each([
  [301, `${origin}/`, null],
  [200, undefined, "http://login.example answers 200 and does not lead to https"],
  [301, "https://other.example/", "http://login.example answers 301 and does not lead to https"],
])("port 80 that answers %i %s", (status, location, finding) => {
  expect(redirectFinding(origin, { status, location })).toBe(finding);
});

test.each([
  [90, 13, "warn"],
  [90, 14, "ok"],
  [30, 11, "ok"],
  [30, 9, "warn"],
])("a certificate of %i days with %i left is %s", (life, left, status) => {
  const [from, until] = [new Date((left - life) * day), new Date(left * day)];
  expect(certificateCheck(origin, { from, until }, 0)).toMatchObject([{ status }]);
});

const sound = {
  "content-security-policy": [contentSecurityPolicy("abc")],
  "x-content-type-options": ["nosniff"],
  "strict-transport-security": ["max-age=63072000; includeSubDomains"],
};

test.each<[object, string | null]>([
  [{}, null],
  [{ "strict-transport-security": ["max-age=63072000", "max-age=1"] }, "strict-transport-security arrives 2 times"],
  [{ "strict-transport-security": ["max-age=1"] }, "strict-transport-security has a shorter max-age than Latchkey's"],
  [{ "content-security-policy": ["default-src *"] }, "content-security-policy is not Latchkey's"],
  [{ "x-content-type-options": undefined }, "x-content-type-options arrives not at all"],
])("headers with %j", (changes, finding) => {
  expect(headersFinding({ headers: { ...sound, ...changes } }, true)).toBe(finding);
});

async function linesOf(settings: Record<string, string>, at: string[] = []): Promise<string[]> {
  const checks = [];
  const mintProbe = async () => "s".repeat(43);
  for await (const check of checkOutside({ config: loadConfig(settings), at, mintProbe })) checks.push(check);
  return checks.map(({ status, found, fix }) => `${status} ${found}${fix ? `. ${fix}` : ""}`);
}

/** @returns the origin of a website */
async function website(answer: RequestListener): Promise<string> {
  const { port, stop } = await listen(createServer(answer));
  onTestFinished(stop);
  return `http://127.0.0.1:${port}`;
}

const APP_URL = "http://127.0.0.1:9"; // where nothing listens

/** The lines about an application, which leads to the login but where `answer` says otherwise. */
async function linesAbout(answer: (path: string, headers: NodeJS.Dict<string | string[]>) => string | null, at = "") {
  const app = await website(({ url = "", headers }, response) => {
    const body = answer(url.replace(/\?.*/, ""), headers);
    if (body !== null) response.end(body);
    else if (headers["sec-fetch-mode"] === "navigate") response.writeHead(302, { Location: `${APP_URL}/login` }).end();
    else response.writeHead(401).end();
  });
  const lines = await linesOf({ APP_URL, RETURN_ORIGINS: app }, at === "" ? [] : [`${app}${at}`]);
  const own = lines.filter((line) => line.includes(app));
  return own.map((line) => line.replaceAll(app, "APP"));
}

test.each(["EAI_AGAIN", "ENOTFOUND"])("where no name resolves (%s) every line is skipped", async (code) => {
  noAnswer = code;
  onTestFinished(() => {
    noAnswer = "EAI_AGAIN";
  });
  const mail = { MAIL_DRIVER: "smtp", MAIL_FROM: "mail@latchkey.example", SMTP_URL: "smtps://u:p@mail.example" };
  const origins = { APP_URL: origin, RETURN_ORIGINS: "https://app.example" };
  expect(await linesOf({ ...origins, ...mail })).toEqual([
    `skip no name resolves here (${code}): there is no network`,
    `skip no name resolves here (${code}): there is no network`,
    "skip there is no network",
  ]);
});

test("one name that does not resolve fails", async () => {
  const app = await website((_request, response) => void response.end());
  expect(await linesOf({ APP_URL: app, RETURN_ORIGINS: "https://app.example" })).toContain(
    "fail the name of https://app.example does not resolve. correct the setting, or add the name to the DNS",
  );
});

test("an origin that is silent for ten seconds fails, and the line names NAT", async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
  const app = await website(() => limit.abort(new DOMException("", "TimeoutError")));
  expect((await linesOf({ APP_URL: app }))[0]).toBe(
    `fail ${app} (127.0.0.1) does not answer in 10 s. open the firewall; a machine behind NAT may not reach its own address`,
  );
  expect(timeout).toHaveBeenCalledWith(10_000);
});

test("an application whose first page is public fails, and --at names the page that is asked instead", async () => {
  const firstPageIsPublic = (path: string) => (path === "/" ? "Welcome" : null);
  expect(await linesAbout(firstPageIsPublic)).toContainEqual(
    expect.stringMatching(/^fail APP\/ answers 200 to a forged Remote-User without a session\. .*`--at URL`/),
  );
  expect(await linesAbout(firstPageIsPublic, "/notes")).toEqual(["ok APP/notes asks everybody to sign in"]);
});

test("--at asks an origin that no setting names, such as the application's own port", async () => {
  const app = await website(({ headers }, response) => void response.end(`Hello ${headers["remote-user"]}`));
  expect(await linesOf({ APP_URL }, [`${app}/`])).toContainEqual(
    expect.stringMatching(/^fail \S+ answers 200 to a forged Remote-User without a session/),
  );
});

test("a /dev page at an application's origin fails", async () => {
  const lines = await linesAbout((path) => (path === "/dev/session" ? '<form action="/dev/session">' : null));
  expect(lines).toContainEqual(expect.stringMatching(/^fail APP\/dev\/session is public\. /));
});

test("Latchkey's metrics at an application's origin fail, and metrics of its own do not", async () => {
  const linesWith = (metrics: string) => linesAbout((path) => (path === "/metrics" ? metrics : null));
  expect(await linesWith("latchkey_up 1\n")).toContainEqual(expect.stringMatching(/^fail APP\/metrics is public\. /));
  expect(await linesWith("app_up 1\n")).toEqual(["ok APP/ asks everybody to sign in"]);
});

test("the report of the probe at an application's origin fails", async () => {
  const seen = { client: forgedClient, clientForwarded: true, hostForwarded: true, origin: "http://forged.invalid" };
  const lines = await linesAbout((_path, headers) => (headers["latchkey-probe"] ? JSON.stringify(seen) : null));
  expect(lines).toContainEqual(expect.stringMatching(/^fail APP leads to Latchkey, too\. /));
});
