import { describe, expect, test } from "vitest";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { goodPassword } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import { call, post } from "../support/route-calls";
import { twice } from "../support/twice";

const latchkey = startLatchkey();

const forms = [
  ["/forgot-password", forgotPassword.action],
  ["/register", register.action],
  ["/reset-password", resetPassword.action],
  ["/register/complete", complete.action],
  ["/login", login.action],
  ["/logout", logout.action],
  ["/dashboard", dashboard.action],
] as const;

async function acceptableFields() {
  const cookie = await latchkey.signedIn();
  const link = await resetLink(latchkey);
  const fields = { ...link, ...twice(goodPassword), intent: "delete-account" };
  return { cookie, fields };
}

function raw(path: string, body: BodyInit | null, type: string | null, cookie: string, method = "POST"): Request {
  const request = new Request(new URL(path, "http://localhost:3000"), {
    method,
    body,
    headers: { Cookie: cookie, Origin: "http://localhost:3000" },
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
  if (type === null) request.headers.delete("Content-Type");
  else request.headers.set("Content-Type", type);
  return request;
}

/** The status of an answer that must neither set nor clear a cookie. */
async function statusWithoutCookies(action: unknown, request: Request): Promise<number> {
  const { status, cookies } = await call(action, request);
  expect(cookies).toEqual({});
  return status;
}

const urlencoded = "application/x-www-form-urlencoded";

type Make = (path: string, fields: Record<string, string>, cookie: string) => Request;

const encoded = (fields: Record<string, string>) => new TextEncoder().encode(new URLSearchParams(fields).toString());

/** The fields, and 16,385 bytes in all. */
function tooLong(fields: Record<string, string>): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(16_385).fill(0x78);
  body.set(encoded({ ...fields, filler: "" }));
  return body;
}

const refusals: [how: string, status: number, make: Make][] = [
  [
    "from another site",
    403,
    (path, fields, cookie) => post(path, fields, { cookie, headers: { "latchkey-cross-site": "true" } }),
  ],
  ...["text/plain", "application/json", "application/x-www-form-urlencodedx", "text/html", "", null].map(
    (type): (typeof refusals)[number] => [
      `of the type ${type}`,
      415,
      (path, fields, cookie) => raw(path, encoded(fields), type, cookie),
    ],
  ),
  [
    "over 16 KiB with Content-Length",
    413,
    (path, fields, cookie) => {
      const request = raw(path, tooLong(fields), urlencoded, cookie);
      request.headers.set("Content-Length", "16385");
      return request;
    },
  ],
  [
    "over 16 KiB in a stream that does not end",
    413,
    (path, fields, cookie) => {
      const part = tooLong(fields).slice(0, 4096);
      return raw(path, new ReadableStream({ pull: (stream) => stream.enqueue(part) }), urlencoded, cookie);
    },
  ],
  ...["PUT", "PATCH", "DELETE"].map((method): (typeof refusals)[number] => [
    `by ${method}`,
    405,
    (path, fields, cookie) => raw(path, encoded(fields), urlencoded, cookie, method),
  ]),
];

describe.each(forms)("the form of %s", (path, action) => {
  test("of another site, type or method, or over 16 KiB is refused", { tags: "3.5.1" }, async () => {
    const { cookie, fields } = await acceptableFields();
    for (const [how, status, make] of refusals) {
      const answer = await latchkey.unchanged(() => statusWithoutCookies(action, make(path, fields, cookie)));
      expect([how, answer]).toEqual([how, status]);
    }
  });
});

const required: [string, unknown, string[]][] = [
  ["/forgot-password", forgotPassword.action, ["email"]],
  ["/register", register.action, ["email"]],
  ["/reset-password", resetPassword.action, ["email", "token", "password", "passwordConfirmation"]],
  ["/register/complete", complete.action, ["email", "token", "password", "passwordConfirmation"]],
  ["/login", login.action, ["email", "password"]],
  ["/dashboard", dashboard.action, ["intent", "email"]],
];

test.each(required)("%s without one of its fields changes nothing", { tags: "2.2.2" }, async (path, action, names) => {
  const { cookie, fields } = await acceptableFields();
  const before = await latchkey.snapshot();
  const parts = names.map((missing) => Object.entries(fields).filter(([name]) => name !== missing));
  for (const part of [[], ...parts]) {
    const request = raw(path, new URLSearchParams(part).toString(), urlencoded, cookie);
    expect(await statusWithoutCookies(action, request)).toBe(names.length === 1 ? 200 : 422);
  }
  expect(await latchkey.snapshot()).toEqual(before);
});

const credentials = { email: "ada@example.com", password: goodPassword };

function multipart(fields: Record<string, string | File>): Request {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return new Request("http://localhost:3000/login", { method: "POST", body });
}

test.each<[string, () => Request]>([
  [
    "of exactly 16 KiB",
    () => raw("/login", `${new URLSearchParams(credentials)}&filler=`.padEnd(16_384, "x"), urlencoded, ""),
  ],
  ["whose fields are in another order", () => post("/login", Object.entries(credentials).reverse())],
  [
    "whose type is in capitals and has parameters",
    () => raw("/login", encoded(credentials), "Application/X-WWW-Form-URLEncoded; charset=UTF-8", ""),
  ],
  ["that is multipart", () => multipart(credentials)],
])("a form %s is accepted", async (_what, request) => {
  await latchkey.createUser();
  expect(await call(login.action, request())).toMatchObject({ status: 302, location: "/dashboard" });
});

test("a file in place of the password is refused as a missing password", async () => {
  await latchkey.createUser();
  const file = new File([goodPassword], "password.txt");
  const refused = await call(login.action, multipart({ ...credentials, password: file }));
  expect(refused).toMatchObject({
    status: 422,
    data: { typed: { email: "ada@example.com" }, errors: { password: "This field is missing, or was sent twice." } },
  });
});

test.each([
  ["without a boundary", "multipart/form-data", "--x\r\n\r\n"],
  ["cut off", "multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nada@'],
  ["whose body is not multipart", "multipart/form-data; boundary=x", "email=ada@example.com"],
  ["that is empty", "multipart/form-data; boundary=x", ""],
])("a multipart form %s is read as a form without fields", async (_how, type, body) => {
  const send = (path: string, action: unknown) => latchkey.unchanged(() => call(action, raw(path, body, type, "")));
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
  const before = await latchkey.snapshot();
  await call(forgotPassword.action, post("/forgot-password", [[name, "ada@example.com"]]));
  expect(await latchkey.snapshot()).toEqual(before);
});
