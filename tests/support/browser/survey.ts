import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";

const folder = fileURLToPath(new URL("../../../screenshots", import.meta.url));
const everyWidth = [320, 375, 1280];
export const themes = ["light", "dark"] as const;
type Theme = (typeof themes)[number];
const rulesOfColors = ["color-contrast", "link-in-text-block"];
/** Without axe's best practices, which are for pages: landmarks, a heading. */
export const wcag = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The CSP would block axe. The tests of the flows run with the CSP. */
export const surveyed: BrowserContextOptions = { bypassCSP: true, reducedMotion: "reduce" };

/** The dark theme has the elements of the light one: there, only the rules of colors run. */
export async function violations(page: Page, standards: string[], theme: Theme = "light"): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const runOnly: axe.RunOnly =
    theme === "dark" ? { type: "rule", values: rulesOfColors } : { type: "tag", values: standards };
  return page.evaluate(async (runOnly) => {
    scrollTo(0, 0); // axe cannot decide the contrast of a single letter above the viewport
    const { violations, incomplete } = await (window as unknown as { axe: typeof axe }).axe.run({ runOnly });
    const undecided = incomplete.filter(({ id }) => id === "color-contrast");
    return [...violations, ...undecided].flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, runOnly);
}

/** The texts that do not fit into their element. */
export const cutTexts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("h1, h2, label, button, a, p, summary, small, dd, time")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1 && clientWidth > 0)
      .map(({ textContent }) => textContent),
  );

/** The labels of buttons that take more than one line. */
export const wrappedLabels = (page: Page) =>
  page.evaluate(() => {
    const linesOf = (text: Node) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      return [...range.getClientRects()].map(({ top }) => Math.round(top));
    };
    return [...document.querySelectorAll("button, .button, summary")]
      .filter((label) => label.checkVisibility()) // not one in a folded form
      .filter(({ childNodes }) => {
        const texts = [...childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
        return new Set(texts.flatMap(linesOf)).size > 1;
      })
      .map(({ textContent }) => textContent);
  });

export const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Takes a screenshot, but not where nobody looks at it (`SCREENSHOTS=off`): each takes 55 ms. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === "off") return;
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: "disabled" });
}

/** Takes a screenshot of a state at every width and theme, and expects no axe violation and no overflow. */
export async function survey(
  page: Page,
  state: string,
  { widths = everyWidth, standards = [...wcag, "best-practice"] } = {},
): Promise<void> {
  const problems: string[] = [];
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  for (const width of widths) {
    for (const theme of themes) {
      await page.setViewportSize({ width, height: width < 1000 ? 740 : 800 });
      await page.emulateMedia({ colorScheme: theme });
      const name = `${state}-${width}-${theme}`;
      await photograph(page, name);
      problems.push(...(await violations(page, standards, theme)).map((violation) => `${name}: ${violation}`));
      if ((await overflow(page)) > 0) problems.push(`${name}: horizontal overflow`);
    }
  }
  expect(problems.join("\n")).toBe("");
}
