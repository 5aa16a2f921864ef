import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { brandColors, defaultColor, grounds } from "#server/brand-colors";
import { contrast, formatColor, parseColor, type Rgb, readableOn, textOn } from "#server/contrast";

const part = fc.integer({ min: 0, max: 255 });
const color = fc.tuple(part, part, part);
const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];

test("the contrast of known pairs is that of WCAG", () => {
  expect(contrast(black, white)).toBe(21);
  expect(contrast(white, white)).toBe(1);
  expect(contrast(parseColor("#767676"), white)).toBeCloseTo(4.542, 3);
  expect(contrast(parseColor("#777777"), white)).toBeCloseTo(4.478, 3);
  expect(contrast(parseColor("#ff0000"), white)).toBeCloseTo(3.998, 3);
  expect(contrast(parseColor("#0000ff"), black)).toBeCloseTo(2.444, 3);
});

test("contrast is symmetric and from 1 to 21; a colour's text survives formatting", () => {
  fc.assert(
    fc.property(color, color, (one, other) => {
      expect(contrast(one, other)).toBe(contrast(other, one));
      expect(contrast(one, other)).toBeGreaterThanOrEqual(1);
      expect(contrast(one, other)).toBeLessThanOrEqual(21);
      expect(parseColor(formatColor(one))).toEqual(one);
    }),
  );
});

test("text on a colour is black or white, whichever has more contrast, and readable", () => {
  const seen = { black: 0, white: 0 };
  fc.assert(
    fc.property(color, (ground) => {
      const text = textOn(ground);
      expect(contrast(text, ground)).toBe(Math.max(contrast(black, ground), contrast(white, ground)));
      expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
      seen[text[0] === 0 ? "black" : "white"]++;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.black, seen.white)).toBeGreaterThan(50);
});

test("every brand colour is readable as text on every ground of both themes, and so is the text on its button", () => {
  const seen = { moved: 0, kept: 0 };
  fc.assert(
    fc.property(color, (brand) => {
      const { fill, fillOnHover, onFill, text, textOnHover } = brandColors(formatColor(brand));
      expect(parseColor(fill)).toEqual(brand);
      expect(contrast(parseColor(onFill), parseColor(fill))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parseColor(onFill), parseColor(fillOnHover))).toBeGreaterThanOrEqual(4.5);
      for (const theme of ["light", "dark"] as const) {
        for (const ground of grounds[theme].map(parseColor)) {
          expect(contrast(parseColor(text[theme]), ground)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(parseColor(textOnHover[theme]), ground)).toBeGreaterThanOrEqual(4.5);
        }
        seen[text[theme] === fill ? "kept" : "moved"]++;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(seen.moved, seen.kept)).toBeGreaterThan(50);
});

test("a colour that is readable already is not changed, and one that is not keeps its hue", () => {
  expect(readableOn(parseColor("#0b6355"), [white])).toEqual(parseColor("#0b6355"));
  const [red, green, blue] = readableOn(parseColor("#ffcc00"), [white]);
  expect(blue).toBe(0);
  expect(green / red).toBeCloseTo(0.8, 1);
  expect(readableOn(white, [white])[0]).toBeLessThan(120);
  expect(readableOn(black, [black])[0]).toBeGreaterThan(110);
});

test("the grounds are those of the pages' theme", async () => {
  const css = await readFile("app/styles/theme.css", "utf8");
  const [light = "", dark = ""] = css.split("@media (prefers-color-scheme: dark)");
  const used = (theme: string) =>
    [...theme.matchAll(/--(?:latchkey-card|latchkey-ground|pico-form-element-background-color): (#\w+)/g)]
      .map(([, value = ""]) => (value === "#fff" ? "#ffffff" : value))
      .sort();
  expect([...new Set(used(light))]).toEqual([...grounds.light].sort((a, b) => a.localeCompare(b)).sort());
  expect([...new Set(used(dark))]).toEqual([...grounds.dark].sort());
  expect(light).toContain(`--pico-primary: ${defaultColor};`);
});
