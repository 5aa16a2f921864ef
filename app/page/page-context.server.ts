import { pageBrand } from "#server/features/branding.server";
import { pageTextsIn, textsPath } from "#server/features/language.server";
import { languageOf } from "~/request/language.server";
import type { PageContent } from "./page-context";

/** The language, the texts and the brand of a request's page. */
export function pageOf(request: Request): PageContent {
  const language = languageOf(request);
  return { language, textsPath: textsPath(language), texts: pageTextsIn(language), brand: pageBrand() };
}
