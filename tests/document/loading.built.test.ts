import { beforeAll, describe, expect, test } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { texts } from "#server/languages/texts";
import type { Answer } from "../support/http";
import { twice } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey();

async function textsPathIn(language: string): Promise<string> {
  const { body } = await latchkey.send("/login", { headers: { "Accept-Language": language } });
  return /<link rel="preload" as="fetch" href="([^"]+)"/.exec(body)?.[1] ?? "";
}

test.each(Object.keys(languages) as Language[])("the texts of pages in %s are a file for ever", async (language) => {
  const path = await textsPathIn(language);
  expect(path).toMatch(new RegExp(`^/__files/texts-${language}-[0-9a-f]{16}\\.json$`));
  const answer = await latchkey.send(path);
  expect(answer).toMatchObject({ status: 200, contentType: "application/json; charset=utf-8", setCookies: [] });
  expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  expect(JSON.parse(answer.body)).toEqual(texts[language].pages);
});

test("a file answers HEAD", async () => {
  expect((await latchkey.send(await textsPathIn("en"), { method: "HEAD" })).status).toBe(200);
});

test("a file refuses POST", async () => {
  expect((await latchkey.send(await textsPathIn("en"), { method: "POST", form: {} })).status).toBe(405);
});

test("a file is found by its exact path only", async () => {
  const path = await textsPathIn("en");
  for (const other of [`${path}/`, path.replace("-", "%2D"), path.toUpperCase(), path.replace(/[0-9a-f]{16}/, "0")]) {
    const { status, headers } = await latchkey.send(other);
    expect([other, status, headers.get("Cache-Control")]).toEqual([other, 404, "no-store"]);
  }
});

const pages = ["/login", "/forgot-password", "/register", "/reset-password", "/register/complete", "/nowhere"];

const preloads = async (path: string) =>
  (await latchkey.send(path)).body.match(/<link rel="(?:modulepreload|preload)"[^>]+>/g) ?? [];

test.each(pages)("%s preloads React with the modules of its routes alone", async (path) => {
  const links = await preloads(path);
  expect(links.filter((link) => link.includes("/build/_shared/"))).toHaveLength(2);
  expect(links).toHaveLength(6); // besides: the entry, the root, the route, the texts
});

test.each(pages)("%s preloads with low priority", async (path) => {
  for (const link of await preloads(path)) expect(link).toContain('fetchpriority="low"');
});

test("a page with two errors has the focus at the first", async () => {
  const visitor = await latchkey.register("ada@example.com");
  const form = { intent: "change-password", currentPassword: "wrong", ...twice("short") };
  const { body } = await visitor.post("/dashboard", form);
  expect(body.match(/aria-invalid="true"/g)).toHaveLength(2);
  expect(body.match(/<input[^>]+autofocus=""[^>]*>/g)).toEqual([expect.stringContaining('name="currentPassword"')]);
});

describe("a page", () => {
  let answer: Answer;

  beforeAll(async () => {
    answer = await latchkey.send("/forgot-password?email=ada%40example.com", {
      headers: { "Accept-Encoding": "identity" },
    });
  });

  test("is sent with its length", () => {
    expect(answer.headers.get("Content-Length")).toBe(String(Buffer.byteLength(answer.body)));
  });

  test("has nothing behind its end", () => {
    expect(answer.body).toMatch(/<\/script><!--\/\$--><\/body><\/html>$/);
    expect(answer.body.match(/<\/html>/g)).toHaveLength(1);
  });

  test("has its data in one script", () => {
    expect(answer.body.match(/streamController\.enqueue\(/g)).toHaveLength(1);
    expect(answer.body).toMatch(/streamController\.enqueue\("[^<]*ada@example\.com[^<]*"\);<\/script>/);
  });

  test("has the manifest of its own routes alone", () => {
    const [, manifest = ""] = /__remixManifest = (\{[\s\S]*?\n\});/.exec(answer.body) ?? [];
    expect(Object.keys(JSON.parse(manifest).routes).toSorted()).toEqual([
      "root",
      "routes/_index",
      "routes/forgot-password",
    ]);
  });
});
