import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { texts } from "#server/languages/texts";
import type { Plural } from "#server/languages/translate";
import type { Site } from "./site";
import { cutTexts, overflow, photograph, surveyed, themes, violations, wcag, wrappedLabels } from "./survey";
import type { Visit } from "./visits";

const photographed: readonly Language[] = ["de", "ja", "ar"]; // long words, no spaces, right to left
const checkedOnDesktop: readonly Language[] = ["de", "ar"]; // one of each direction: the rules do not read the words

export const everyLanguage = Object.keys(languages) as Language[];

/** Looks at every page of a visit, and expects no problem of translation or layout. */
export async function lookAround(site: Site, language: Language, visit: Visit): Promise<void> {
  const page = await site.visit({ ...surveyed, locale: language });
  const problems: string[] = [];
  const see = async (state: string) => {
    problems.push(...(await look(page, language, state)));
  };
  await visit({ site, page, language, see });
  expect(problems).toEqual([]);
}

export async function look(page: Page, language: Language, state: string): Promise<string[]> {
  const problems: string[] = [];
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  const english = englishTexts(language);
  for (const text of await shownTexts(page)) if (english.test(text)) problems.push(`English: ${text}`);
  const { lang, dir } = await page.evaluate(() => {
    const { lang, dir } = document.documentElement;
    return { lang, dir };
  });
  if (lang !== language || dir !== languages[language].direction) problems.push(`lang=${lang} dir=${dir}`);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 740 });
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      if (width === 320 || checkedOnDesktop.includes(language)) {
        problems.push(...(await violations(page, [...wcag, "best-practice"], theme)));
      }
      if (photographed.includes(language) && (width === 320) === (theme === "dark")) {
        await photograph(page, `${language}-${state}-${width}`);
      }
    }
    if ((await overflow(page)) > 0) problems.push(`overflow at ${width}`);
    problems.push(...(await cutTexts(page)).map((text) => `cut at ${width}: ${text}`));
  }
  problems.push(...(await wrappedLabels(page)).map((label) => `two lines: ${label}`)); // at the last width, the widest
  return problems.map((problem) => `${language}, ${state}: ${problem}`);
}

function piecesOf(language: Language): string[] {
  const { pages, answers } = texts[language];
  return [pages, answers]
    .flatMap((part) => Object.values(part).flatMap((section): (string | Plural)[] => Object.values(section)))
    .flatMap((text) => (typeof text === "string" ? [text] : Object.values(text)))
    .flatMap((text) => text.split(/<\/?\w+>/).map((piece) => piece.trim()));
}

const placeholder = /\{\w+\}/;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function englishTexts(language: Language): RegExp {
  const own = new Set(piecesOf(language));
  const patterns = piecesOf("en")
    .filter((piece) => !own.has(piece))
    .map((piece) => piece.split(placeholder))
    .filter((words) => /\p{L}/u.test(words.join("")))
    .map((words) => words.map(escaped).join(".+"));
  return new RegExp(`^(?:${patterns.join("|") || "(?!)"})$`);
}

const shownTexts = (page: Page) =>
  page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const shown = document.title.split(" · ");
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!/^(?:SCRIPT|STYLE)$/.test(node.parentElement?.tagName ?? "")) shown.push(node.textContent?.trim() ?? "");
    }
    for (const element of document.querySelectorAll("[aria-label], [alt], [placeholder], [title]")) {
      for (const name of ["aria-label", "alt", "placeholder", "title"]) shown.push(element.getAttribute(name) ?? "");
    }
    return shown;
  });
