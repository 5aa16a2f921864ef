import { createContext, useContext } from "react";
import type { PageBrand } from "#server/features/branding.server";
import type { Language } from "#server/languages/languages";
import type { PageTexts } from "#server/languages/texts";
import type { Translated } from "#server/languages/translate";

/** What every page needs besides its route's data. In a context, because the error pages have no loader's data. */
export interface PageContent {
  language: Language;
  texts: Translated<PageTexts>;
  brand: PageBrand;
  /** The other three, as they go to the browser. */
  json: string;
}

const PageContext = createContext<PageContent | null>(null);

export const PageProvider = PageContext.Provider;

export function usePage(): PageContent {
  const page = useContext(PageContext);
  if (!page) throw new Error("The page has no content.");
  return page;
}

const elementId = "page-content";

/** The content, for hydration. */
export function PageForBrowser() {
  return <data id={elementId} value={usePage().json} hidden />;
}

/** The content of the page that the server sent. */
export function pageOfDocument(): PageContent {
  const json = document.getElementById(elementId)?.getAttribute("value") ?? "";
  return { ...JSON.parse(json), json };
}
