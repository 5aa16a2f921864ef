import { createContext, useContext } from "react";
import type { PageBrand } from "#server/features/branding.server";
import type { Language } from "#server/languages/languages";
import type { PageTexts } from "#server/languages/texts";
import type { Translated } from "#server/languages/translate";
import { lowPriority } from "./low-priority";

/** What every page needs besides its route's data. In a context, because the error pages have no loader's data. */
export interface PageContent {
  language: Language;
  /** Where the browser gets the texts, which it keeps. */
  textsPath: string;
  texts: Translated<PageTexts>;
  brand: PageBrand;
}

const PageContext = createContext<PageContent | null>(null);

export const PageProvider = PageContext.Provider;

export function usePage(): PageContent {
  const page = useContext(PageContext);
  if (!page) throw new Error("The page has no content.");
  return page;
}

const elementId = "page-content";

/** What hydration needs: everything but the texts, in an attribute, which React escapes. */
export function PageForBrowser() {
  const { language, textsPath, brand } = usePage();
  return <data id={elementId} value={JSON.stringify({ language, textsPath, brand })} hidden />;
}

/** Lets the browser load the texts beside the scripts. */
export function TextsPreload() {
  return <link rel="preload" as="fetch" href={usePage().textsPath} crossOrigin="anonymous" {...lowPriority} />;
}

/** The content of the page that the server sent. */
export async function pageOfDocument(): Promise<PageContent> {
  const value = document.getElementById(elementId)?.getAttribute("value") ?? "";
  const content: Omit<PageContent, "texts"> = JSON.parse(value);
  const answer = await fetch(content.textsPath);
  if (!answer.ok) throw new Error("The texts cannot be loaded; the page goes on without scripts.");
  return { ...content, texts: await answer.json() };
}
