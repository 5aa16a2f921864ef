import { describe, expect, test } from "vitest";
import { chooseLanguage } from "#server/features/language.server";
import * as language from "~/routes/language";
import { configure } from "../support/configure";
import { call, get, post } from "../support/route-calls";

describe("the form that chooses a language", () => {
  const choose = (fields: Record<string, string> | [string, string][], headers: Record<string, string> = {}) =>
    call(language.action, post("/language", fields, { headers }));

  test("sets a cookie and shows the same page again", async () => {
    configure({});
    const done = await choose({ language: "en", page: "/reset-password?email=ada%40example.com&token=ff" });
    expect(done).toMatchObject({ status: 302, location: "/reset-password?email=ada%40example.com&token=ff" });
    expect(done.headers.getSetCookie()).toEqual(["language=en; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax"]);
  });

  test("sets a cookie that no other host can set, on https", async () => {
    configure({});
    const done = await choose({ language: "en", page: "/" }, { "latchkey-origin": "https://localhost:3000" });
    expect(done.headers.getSetCookie()).toEqual([
      "__Host-language=en; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax; Secure",
    ]);
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "/..//evil.example",
    "/.//evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "evil.example",
    "",
    "http://[",
  ])("leads to the start page, and nowhere else, for the page %j", async (page) => {
    configure({});
    expect(await choose({ language: "en", page })).toMatchObject({ status: 302, location: "/" });
  });

  test.each(["xx", "", "toString", "__proto__", "EN", "en; Domain=example.org"])(
    "sets no cookie for the language %j",
    async (tag) => {
      configure({});
      const done = await choose({ language: tag, page: "/login" });
      expect(done).toMatchObject({ status: 302, location: "/login", cookies: {} });
    },
  );

  test("is refused from another site, and by GET", async () => {
    configure({});
    const fields = { language: "en", page: "/" };
    expect(await choose(fields, { "latchkey-cross-site": "true" })).toMatchObject({ status: 403, cookies: {} });
    expect((await call(language.loader, get("/language"))).status).toBe(405);
  });
});

describe("the language of a visitor", () => {
  const hostile = [
    "*",
    "",
    ",",
    ";q=",
    "en;q=nan",
    "__proto__",
    "constructor",
    "xx-YY;q=0.5, zz",
    "en;q=0",
    "a".repeat(8_000),
    "en-,".repeat(4_000),
    `${"x;q=0.1,".repeat(2_000)}en`,
    "\u0000",
    "é",
  ];

  test.each(hostile)("is the default one for the header %j", (header) => {
    configure({ DEFAULT_LOCALE: "en" });
    expect(chooseLanguage(null, header)).toBe("en");
  });
});
