import { expect, test } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { texts } from "#server/languages/texts";
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

test("a file is found by its exact path only", async () => {
  const path = await textsPathIn("en");
  expect((await latchkey.send(path, { method: "HEAD" })).status).toBe(200);
  expect((await latchkey.send(path, { method: "POST", form: {} })).status).toBe(405);
  for (const other of [`${path}/`, path.replace("-", "%2D"), path.toUpperCase(), path.replace(/[0-9a-f]{16}/, "0")]) {
    const { status, headers } = await latchkey.send(other);
    expect([other, status, headers.get("Cache-Control")]).toEqual([other, 404, "no-store"]);
  }
});

const pages = ["/login", "/forgot-password", "/register", "/reset-password", "/register/complete", "/nowhere"];

test.each(pages)("%s preloads React and the modules of its routes only, with low priority", async (path) => {
  const { body } = await latchkey.send(path);
  const links = body.match(/<link rel="(?:modulepreload|preload)"[^>]+>/g) ?? [];
  expect(links.filter((link) => link.includes("/build/_shared/"))).toHaveLength(2);
  expect(links).toHaveLength(6); // besides: the entry, the root, the route, the texts
  for (const link of links) expect(link).toContain('fetchpriority="low"');
});

test("a page is sent with its length, and with the data and the manifest of its own routes only", async () => {
  const { headers, body } = await latchkey.send("/forgot-password?email=ada%40example.com", {
    headers: { "Accept-Encoding": "identity" },
  });
  expect(headers.get("Content-Length")).toBe(String(Buffer.byteLength(body)));
  expect(body.match(/streamController\.enqueue\(/g)).toHaveLength(1);
  expect(body).toMatch(/streamController\.enqueue\("[^<]*ada@example\.com[^<]*"\);<\/script>/);
  const [, manifest = ""] = /__remixManifest = (\{[\s\S]*?\n\});/.exec(body) ?? [];
  expect(Object.keys(JSON.parse(manifest).routes).toSorted()).toEqual([
    "root",
    "routes/_index",
    "routes/forgot-password",
  ]);
});
