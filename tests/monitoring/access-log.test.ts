import fc from "fast-check";
import { expect, test } from "vitest";
import { loggedPath } from "#server/door/access-log";

const pathCharacter = fc.constantFrom(..."ABCXYZabcxyz0189/._-");
const token = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 32, maxLength: 128 });

test("a path of plain characters is logged unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: pathCharacter, maxLength: 31 }), (path) => {
      expect(loggedPath(`/${path}`)).toBe(`/${path}`);
    }),
  );
});

test("a logged path has no token of its URL", () => {
  const seen = { replaced: 0, cut: 0 };
  const before = fc.oneof(fc.string({ unit: pathCharacter }), fc.string({ unit: "binary-ascii" }), fc.string());
  fc.assert(
    fc.property(before, token, fc.string(), (start, secret, end) => {
      const logged = loggedPath(`/${start}${secret}${end}`);
      expect(logged).toMatch(/^\/[\w/.[\]-]*$/);
      expect(logged).not.toMatch(/[0-9a-f]{32}/i);
      if (logged.includes("[hex]")) seen.replaced++;
      else seen.cut++;
    }),
    { numRuns: 1_000 },
  );
  expect(seen.replaced).toBeGreaterThan(100);
  expect(seen.cut).toBeGreaterThan(100);
});
