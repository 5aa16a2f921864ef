import { beforeAll, describe, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";
import type { Visitor } from "../support/visitor";

const latchkey = runLatchkey({ TRUST_PROXY: "false" });

const path = "/auth/session";
const notSignedIn = { status: 401, contentType: "application/json; charset=utf-8", body: '{"error":"not_signed_in"}' };
const crossOrigin = { status: 403, contentType: "application/json; charset=utf-8", body: '{"error":"cross_origin"}' };

let ada: Visitor;
let expires: number;

beforeAll(async () => {
  ada = await latchkey.register("ada@example.com");
  const signedIn = await ada.logIn();
  expires = Date.parse(/^session=\w+; Expires=([^;]+)/.exec(signedIn.setCookies[0] ?? "")?.[1] ?? "");
});

describe("the session", () => {
  test("has the user, and ends 14 days after its last use, before its cookie does", {
    tags: ["8.2.3", "15.3.1"],
  }, async () => {
    const answer = await ada.get(path);
    expect(answer).toMatchObject({ status: 200, contentType: "application/json; charset=utf-8", setCookies: [] });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    const body = JSON.parse(answer.body);
    expect(body).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: "ada@example.com",
        name: null,
        pictureUrl: null,
        groups: [],
      },
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(Math.floor(Date.parse(body.expiresAt) / 1000)).toBe(expires / 1000 - 16 * 86_400);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("by %s is refused", async (method) => {
    const answer = await latchkey.send(path, { method, cookie: ada.cookie });
    expect(answer).toMatchObject({ status: 405, body: "" });
    expect(answer.headers.get("Allow")).toBe("GET, HEAD");
  });

  test.each(["", "session=", "session=%", `session=${"a".repeat(64)}`, "session=\u00ff"])(
    "without a live one, the cookie %j is answered 401",
    async (cookie) => {
      const answer = await latchkey.send(path, { cookie });
      expect(answer).toMatchObject(notSignedIn);
      expect(answer.headers.get("WWW-Authenticate")).toBe('Cookie realm="Latchkey"');
    },
  );
});

describe("another origin gets no data", () => {
  test.each([
    ["a page of another site", { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
    ["a script element of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
    ["another host of the same site", { "Sec-Fetch-Site": "same-site" }],
    ["a link of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }],
  ])("%s", { tags: "3.4.2" }, async (_what, headers) => {
    const answer = await latchkey.send(path, { cookie: ada.cookie, headers });
    expect(answer).toMatchObject(crossOrigin);
    const cors = [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"));
    expect(cors).toEqual([]);
  });

  test.each([
    ["a script of this origin", () => ({ "Sec-Fetch-Site": "same-origin" })],
    ["this origin, by its name", () => ({ Origin: latchkey.url() })],
    ["an address that the visitor typed", () => ({ "Sec-Fetch-Site": "none" })],
  ])("%s does", async (_what, headers) => {
    expect((await latchkey.send(path, { cookie: ada.cookie, headers: headers() })).status).toBe(200);
  });
});
