import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { brandColors, defaultColor, grounds } from "#server/settings/brand-colors";

const partsOf = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** WCAG 2.2, "relative luminance" and "contrast ratio", apart from the library that the service asks. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other]
    .map((color) => {
      const linear = partsOf(color).map((part) =>
        part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      );
      return [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => sum + weight * (linear[index] ?? 0), 0.05);
    })
    .sort((a, b) => a - b);
  return light / dark;
}

const color = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);

const edges = ["#000000", "#ffffff", "#757575", "#767676", "#ff0000", "#0000ff"];

const brands = [...edges, ...fc.sample(color, 2_000)].map((brand) => ({ brand, ...brandColors(brand) }));

test("every brand colour is that of its button", () => {
  for (const { brand, fill, fillOnHover } of brands) {
    expect(fill).toBe(brand);
    expect(fillOnHover, brand).not.toBe(fill);
  }
});

test("the text on the button of every brand colour is readable", () => {
  const seen = { "#000000": 0, "#ffffff": 0 };
  for (const { brand, fill, fillOnHover, onFill } of brands) {
    const [black, white] = [contrast("#000000", fill), contrast("#ffffff", fill)];
    expect(onFill, brand).toBe(black > white ? "#000000" : "#ffffff");
    seen[onFill as keyof typeof seen]++;
    for (const ground of [fill, fillOnHover]) expect(contrast(onFill, ground), brand).toBeGreaterThanOrEqual(4.5);
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
});

describe.each(["light", "dark"] as const)("on the grounds of the %s theme", (theme) => {
  test("text in every brand colour is readable", () => {
    for (const { brand, text, textOnHover } of brands) {
      for (const ground of grounds[theme]) {
        expect(contrast(text[theme], ground), brand).toBeGreaterThanOrEqual(4.5);
        expect(contrast(textOnHover[theme], ground), brand).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  test("text has the brand colour itself wherever it is readable", () => {
    const seen = { moved: 0, kept: 0 };
    for (const { brand, text } of brands) {
      const alreadyReadable = grounds[theme].every((ground) => contrast(brand, ground) >= 4.5);
      expect(text[theme] === brand, brand).toBe(alreadyReadable);
      seen[alreadyReadable ? "kept" : "moved"]++;
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });
});

test("a colour whose lightness is moved keeps its hue", () => {
  const [red = 0, green = 0, blue] = partsOf(brandColors("#ffcc00").text.light);
  expect(blue).toBe(0);
  expect(green / red).toBeCloseTo(0.8, 1);
});

test("the grounds are those of the pages' theme", async () => {
  const css = await readFile("app/styles/theme.css", "utf8");
  const [light = "", dark = ""] = css.split("@media (prefers-color-scheme: dark)");
  const used = (theme: string) =>
    new Set(
      [...theme.matchAll(/--(?:latchkey-card|latchkey-ground|pico-form-element-background-color): (#\w+)/g)].map(
        ([, value = ""]) => (value === "#fff" ? "#ffffff" : value),
      ),
    );
  expect(used(light)).toEqual(new Set(grounds.light));
  expect(used(dark)).toEqual(new Set(grounds.dark));
  expect(light).toContain(`--pico-primary: ${defaultColor};`);
});
