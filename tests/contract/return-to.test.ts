import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allowedTarget } from "#server/origins/return-to";
import { bypasses, targets } from "../support/open-redirects";

const own = "http://localhost:3000";
const allowed = { appUrl: own, returnOrigins: ["https://app.example", "https://*.shop.example", "http://[::1]:5173"] };
const decide = (text: string) => allowedTarget(text, allowed);

test.each<[string, string]>([
  ["/", "/"],
  ["/a/b?c=d&e#f", "/a/b?c=d&e#f"],
  ["/a/../b", "/b"],
  ["/a\\b", "/a/b"],
  ["/a//b", "/a//b"],
  ["/%2fevil.example", "/%2fevil.example"],
  ["/%5cevil.example", "/%5cevil.example"],
  ["/@evil.example", "/@evil.example"],
  ["/?//evil.example", "/?//evil.example"],
  ["/a?next=https://evil.example/", "/a?next=https://evil.example/"],
  ["/caf\u00e9 \u2603", "/caf%C3%A9%20%E2%98%83"],
  ["/a\tb\n", "/ab"],
  ["/a?", "/a"],
  [own, `${own}/`],
  [`${own}/a?b#c`, `${own}/a?b#c`],
  ["HTTP://LocalHost:3000", `${own}/`],
  ["https://app.example", "https://app.example/"],
  ["https://app.example:443/a", "https://app.example/a"],
  ["https:app.example/a", "https://app.example/a"],
  ["https://app.example//evil.example", "https://app.example//evil.example"],
  ["https://a.shop.example/", "https://a.shop.example/"],
  ["https://a.b-c.SHOP.example:443/x", "https://a.b-c.shop.example/x"],
  ["https://b\u00fccher.shop.example/", "https://xn--bcher-kva.shop.example/"],
  ["http://[::1]:5173/", "http://[::1]:5173/"],
])("%j leads to %s", (text, target) => {
  expect(decide(text)).toBe(target);
});

test.each<[string, string]>([
  ["/a/.b/../c", "/a/c"],
  ["/a/.b/./", "/a/.b/"],
  ["https://app.example/a/.b/..", "https://app.example/a/"],
])("%j leads to no dot segment", (text, resolved) => {
  // Node 20 and 22 do not resolve it (ada-url/ada#935).
  expect([resolved, null]).toContain(decide(text));
});

test("a host outside ASCII is allowed after many calls too", () => {
  for (let calls = 0; calls < 50_000; calls++) decide("https://a.shop.example/");
  expect(decide("https://b\u00fccher.shop.example/")).toBe("https://xn--bcher-kva.shop.example/");
});

test.each(bypasses(own))(
  "return_to leads nowhere when it is %s: %j",
  { tags: ["1.2.2", "3.7.2", "CVE-2025-27143", "CVE-2026-107369", "CVE-2026-22029", "GHSA-2j2x-hqr9-3h42"] },
  (_what, text) => {
    expect(decide(text)).toBeNull();
  },
);

test.each([
  ["2,048 characters", `/${"a".repeat(2_047)}`, 2_048],
  ["2,047 characters when serialised", `/${"\u00e9".repeat(341)}`, 2_047],
])("%s are allowed", (_what, text, length) => {
  expect(decide(text)).toBe(encodeURI(text));
  expect(decide(text)).toHaveLength(length);
});

test.each([
  ["2,049 characters", `/${"a".repeat(2_048)}`],
  ["more than 2,048 characters when serialised", `/${"\u00e9".repeat(342)}`],
])("%s are refused", (_what, text) => {
  expect(decide(text)).toBeNull();
});

test("without RETURN_ORIGINS only this origin is allowed", () => {
  const alone = { appUrl: own, returnOrigins: [] };
  expect(allowedTarget("/a", alone)).toBe("/a");
  expect(allowedTarget(`${own}/a`, alone)).toBe(`${own}/a`);
  expect(allowedTarget("https://app.example/a", alone)).toBeNull();
});

describe("what passes", () => {
  function assertPassed(check: (target: string) => void): void {
    const kinds = { path: 0, absolute: 0, refused: 0 };
    fc.assert(
      fc.property(targets, (text) => {
        const target = decide(text);
        if (target === null) return void kinds.refused++;
        kinds[target.startsWith("/") ? "path" : "absolute"]++;
        check(target);
      }),
      { numRuns: 20_000 },
    );
    expect(kinds.path).toBeGreaterThan(1_000);
    expect(kinds.absolute).toBeGreaterThan(200);
    expect(kinds.refused).toBeGreaterThan(1_000);
  }

  test("is ASCII", { tags: "1.1.1" }, () => {
    assertPassed((target) => expect(target).toMatch(/^[!-~]{1,2048}$/));
  });

  test("passes again unchanged", { tags: "1.1.1" }, () => {
    assertPassed((target) => {
      expect(decide(target)).toBe(target);
      expect(new URL(target, own).href).toBe(target.startsWith("/") ? `${own}${target}` : target);
    });
  });

  test("is of an allowed origin", { tags: "1.1.1" }, () => {
    assertPassed((target) => {
      const url = new URL(target, own);
      expect(url.username + url.password).toBe("");
      expect(`${url.protocol}//${url.host}`).toMatch(
        /^(?:http:\/\/localhost:3000|https:\/\/app\.example|https:\/\/(?:[a-z0-9_-]+\.)+shop\.example|http:\/\/\[::1\]:5173)$/,
      );
    });
  });
});
