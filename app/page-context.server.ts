import { pageBrand } from "#server/features/branding.server";
import { pageTextsIn } from "#server/features/language.server";
import type { Language } from "#server/languages/languages";
import { languageOf } from "./language.server";
import type { PageContent } from "./page-context";

const serializedTexts = new Map<Language, string>();

function textsAsJson(language: Language): string {
  const json = serializedTexts.get(language) ?? JSON.stringify(pageTextsIn(language));
  serializedTexts.set(language, json);
  return json;
}

/** The language, the texts and the brand of a request's page. */
export function pageOf(request: Request): PageContent {
  const language = languageOf(request);
  const brand = pageBrand();
  const json = `{"language":"${language}","brand":${JSON.stringify(brand)},"texts":${textsAsJson(language)}}`;
  return { language, texts: pageTextsIn(language), brand, json };
}
