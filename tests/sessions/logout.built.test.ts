import { expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey({ RETURN_ORIGINS: "https://app.example" });

const path = `/logout?${new URLSearchParams({ return_to: "https://app.example/bye" })}`;

test("the page has one button of its own, whose form may lead to the application alone", async () => {
  const visitor = await latchkey.register("ada@example.com");
  const { status, headers, body } = await visitor.get(path, { "Sec-Fetch-Site": "cross-site" });
  expect(status).toBe(200);
  expect(headers.get("Cache-Control")).toBe("no-store");
  expect(headers.get("Content-Security-Policy")).toMatch(/form-action 'self' https:\/\/app\.example(?:;|$)/);
  const main = /<main.*<\/main>/s.exec(body)?.[0] ?? "";
  expect(main.match(/<button/g)).toHaveLength(1);
  expect(main).toContain("ada@example.com");
  const [, action = ""] = /<form method="post" action="([^"]+)"/.exec(main) ?? [];
  expect(action).toBe(path);
  expect((await visitor.get("/auth/session")).status).toBe(200);
  expect(await visitor.post(action)).toMatchObject({ status: 302, location: "https://app.example/bye" });
  expect((await visitor.get("/auth/session")).status).toBe(401);
});
