import { cloneElement, createElement, Fragment, type ReactElement } from "react";
import { languages } from "#server/languages/languages";
import type { PageTexts } from "#server/languages/texts";
import { fill, type TextKey, templateOf, type Values } from "#server/languages/translate";
import { usePage } from "./page-context";

export type PageText = TextKey<PageTexts>;

export type PlainPageText = { [Key in PageText]: Values<PageTexts, Key> extends [] ? Key : never }[PageText];

export function useDocumentLanguage() {
  const { language } = usePage();
  return { lang: language, dir: languages[language].direction };
}

export const useTexts = () => usePage().t;

interface TextProps<Key extends PageText> {
  of: Key;
  values?: Values<PageTexts, Key>[0];
  /** Takes the place of `<name>…</name>` in the text, around its words. */
  part: ReactElement;
}

export function Text<Key extends PageText>({ of, values, part }: TextProps<Key>) {
  const { language, texts } = usePage();
  const pieces = templateOf(language, texts, of, values).split(/<\w+>(.*?)<\/\w+>/);
  const children = pieces.map((piece, index) => {
    const words = fill(language, piece, values);
    return index % 2 === 1 ? cloneElement(part, {}, words) : words;
  });
  return createElement(Fragment, null, ...children); // without keys: two pieces may be the same
}
