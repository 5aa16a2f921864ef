import { expect, test } from "vitest";
import * as confirmEmail from "~/routes/account.email";
import * as dashboard from "~/routes/dashboard";
import * as devSession from "~/routes/dev.session";
import * as forgotPassword from "~/routes/forgot-password";
import * as language from "~/routes/language";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey();

const forms = [
  ["/forgot-password", forgotPassword.action],
  ["/register", register.action],
  ["/reset-password", resetPassword.action],
  ["/register/complete", complete.action],
  ["/login", login.action],
  ["/logout", logout.action],
  ["/dashboard", dashboard.action],
  ["/account/email", confirmEmail.action],
  ["/language", language.action],
  ["/dev/session", devSession.action],
] as const;

async function acceptableFields() {
  const cookie = await latchkey.signedIn();
  const link = await resetLink(latchkey);
  const fields = { ...link, ...twice(goodPassword), intent: "delete-account" };
  return { cookie, fields };
}

const urlencoded = "application/x-www-form-urlencoded";

const raw = (path: string, body: string, type: string, cookie = "", method = "POST") =>
  new Request(new URL(path, "http://localhost:3000"), {
    method,
    body,
    headers: { "Content-Type": type, Cookie: cookie, Origin: "http://localhost:3000" },
  });

type Refused = (path: string, sent: { fields: Record<string, string>; body: string; cookie: string }) => Request;

const ofType =
  (type: string): Refused =>
  (path, { body, cookie }) =>
    raw(path, body, type, cookie);

test.each<[string, number, Refused]>([
  [
    "a form of another site",
    403,
    (path, { fields, cookie }) => post(path, fields, { cookie, facts: { crossSite: true } }),
  ],
  ["PUT", 405, (path, { body, cookie }) => raw(path, body, urlencoded, cookie, "PUT")],
  [
    "a form of more than 16 KiB",
    413,
    (path, { body, cookie }) => raw(path, `${body}&filler=`.padEnd(16_385, "x"), urlencoded, cookie),
  ],
  ["plain text", 415, ofType("text/plain")],
  ["JSON", 415, ofType("application/json")],
  ["a type that begins with a form's", 415, ofType(`${urlencoded}x`)],
])("no action takes %s: %i", { tags: "3.5.1" }, async (_what, status, request) => {
  const { cookie, fields } = await acceptableFields();
  const body = new URLSearchParams(fields).toString();
  for (const [path, action] of forms) {
    const refused = await latchkey.unchanged(() => call(action, request(path, { fields, body, cookie })));
    expect(refused.status, path).toBe(status);
    expect(refused.cookies, path).toEqual({});
  }
});

test("a form in a stream that does not end is refused", async () => {
  const body = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(65_536)) });
  const init: object = { method: "POST", headers: { "Content-Type": urlencoded }, body, duplex: "half" };
  expect((await call(login.action, new Request("http://localhost:3000/login", init))).status).toBe(413);
});

const credentials = { email: "ada@example.com", password: goodPassword };

function multipart(): Request {
  const body = new FormData();
  for (const [name, value] of Object.entries(credentials)) body.set(name, value);
  return new Request("http://localhost:3000/login", { method: "POST", body });
}

test.each<[string, () => Request]>([
  [
    "of exactly 16 KiB",
    () => raw("/login", `${new URLSearchParams(credentials)}&filler=`.padEnd(16_384, "x"), urlencoded),
  ],
  ["whose fields are in another order", () => post("/login", Object.entries(credentials).reverse())],
  [
    "whose type is in capitals and has parameters",
    () =>
      raw("/login", new URLSearchParams(credentials).toString(), "Application/X-WWW-Form-URLEncoded; charset=UTF-8"),
  ],
  ["that is multipart", multipart],
])("a form %s is accepted", async (_what, request) => {
  await latchkey.createUser();
  expect(await call(login.action, request())).toMatchObject({ status: 302, location: "/dashboard" });
});

test.each([
  ["without a boundary", "multipart/form-data", "--x\r\n\r\n"],
  ["cut off", "multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nada@'],
  ["whose body is not multipart", "multipart/form-data; boundary=x", "email=ada@example.com"],
  ["that is empty", "multipart/form-data; boundary=x", ""],
])("a multipart form %s is read as a form without fields", async (_how, type, body) => {
  const send = (path: string, action: unknown) => latchkey.unchanged(() => call(action, raw(path, body, type)));
  expect((await send("/login", login.action)).status).toBe(422);
  const asked = await send("/forgot-password", forgotPassword.action);
  expect(asked).toMatchObject({ status: 200, data: { status: "sent", email: "" } });
});

test("no answer to a rejected form contains the password", async () => {
  const { cookie, fields } = await acceptableFields();
  for (const [path, action] of forms) {
    const answer = await call(action, post(path, { ...fields, email: "eve@example.com" }, { cookie }));
    expect(JSON.stringify(answer.data), path).not.toContain(goodPassword);
  }
});

const otherNames = ["__proto__", "constructor", "email[]", "email[$ne]", "email.x"];
test.each(otherNames)("the field %s is not the address", { tags: ["15.3.6", "15.3.7"] }, async (name) => {
  await latchkey.createUser();
  const ask = post("/forgot-password", [[name, "ada@example.com"]]);
  await latchkey.unchanged(() => call(forgotPassword.action, ask));
});

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** Remix encodes the data by recursion: its stack ends at 1,000 to 3,000 levels. */
test.each(forms)(
  "nothing that is sent to %s makes the page's data deeper",
  { tags: "CVE-2026-34077" },
  async (path, action) => {
    const { cookie, fields } = await acceptableFields();
    const nested = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`;
    const names = [...Object.keys(fields), "email"];
    const sent = names.flatMap((name) => [
      [name, nested],
      [name + "[a]".repeat(300), "x"],
    ]);
    const answer = await call(action, post(path, Object.fromEntries(sent), { cookie }));
    expect(depthOf(answer.data)).toBeLessThanOrEqual(3);
  },
);
