import { beforeAll, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";
import type { Visitor } from "../support/visitor";

const latchkey = runLatchkey({ RETURN_ORIGINS: "https://app.example" });

const path = "/auth/session";
const contentType = "application/json; charset=utf-8";

let ada: Visitor;

beforeAll(async () => {
  ada = await latchkey.register("ada@example.com");
});

test("/auth/session has the user and the end of the session", { tags: ["8.2.3", "15.3.1"] }, async () => {
  const answer = await ada.get(path, { Origin: latchkey.url(), "Sec-Fetch-Site": "same-origin" });
  expect(answer).toMatchObject({ status: 200, contentType, setCookies: [] });
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect((await ada.get(path, { "Sec-Fetch-Site": "none" })).status).toBe(200); // an address that the visitor typed
  expect(JSON.parse(answer.body)).toEqual({
    user: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: "ada@example.com",
      name: null,
      pictureUrl: null,
      groups: [],
    },
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test("/auth/session is refused by another method, and without a live session", async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const refused = await latchkey.send(path, { method, cookie: ada.cookie });
    expect(refused, method).toMatchObject({ status: 405, body: "" });
    expect(refused.headers.get("Allow")).toBe("GET, HEAD");
  }
  for (const cookie of ["", "session=", "session=%", `session=${"a".repeat(64)}`, "session=\u00ff"]) {
    const answer = await latchkey.send(path, { cookie });
    expect(answer).toMatchObject({ status: 401, contentType, body: '{"error":"not_signed_in"}' });
    expect(answer.headers.get("WWW-Authenticate")).toBe('Cookie realm="Latchkey"');
  }
});

test.each([
  ["a page of another site", { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
  ["a script element of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
  ["another host of the same site", { "Sec-Fetch-Site": "same-site" }],
  ["a link of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }],
])("%s gets nothing of /auth/session", { tags: "3.4.2" }, async (_what, headers) => {
  const answer = await ada.get(path, headers);
  expect(answer).toMatchObject({ status: 403, contentType, body: '{"error":"cross_origin"}' });
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
});

test("/logout has one button of its own, whose form may lead to the application alone", async () => {
  const page = `/logout?${new URLSearchParams({ return_to: "https://app.example/bye" })}`;
  const { status, headers, body } = await ada.get(page, { "Sec-Fetch-Site": "cross-site" });
  expect([status, headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  expect(headers.get("Content-Security-Policy")).toMatch(/form-action 'self' https:\/\/app\.example(?:;|$)/);
  const main = /<main.*<\/main>/s.exec(body)?.[0] ?? "";
  expect(main.match(/<button/g)).toHaveLength(1);
  expect(main).toContain("ada@example.com");
  const [, action = ""] = /<form method="post" action="([^"]+)"/.exec(main) ?? [];
  expect(action).toBe(page);
  expect((await ada.get(path)).status).toBe(200);
  expect(await ada.post(action)).toMatchObject({ status: 302, location: "https://app.example/bye" });
  expect((await ada.get(path)).status).toBe(401);
});
