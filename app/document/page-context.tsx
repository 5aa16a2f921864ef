import { createContext, type ReactNode, useContext, useSyncExternalStore } from "react";
import type { PageTexts } from "#server/languages/texts";
import { type Translate, translator } from "#server/languages/translate";
import type { pageOf } from "./page";

/** Components read it from a context, because error pages have no loader data. */
export type PageContent = ReturnType<typeof pageOf>;

interface Page extends PageContent {
  t: Translate<PageTexts>;
}

const PageContext = createContext<Page | null>(null);

export function PageProvider({ content, children }: { content: PageContent; children: ReactNode }) {
  const t = translator<PageTexts>(content.language, content.texts);
  return <PageContext.Provider value={{ ...content, t }}>{children}</PageContext.Provider>;
}

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("The page has no content.");
  return page;
}

const elementId = "page-content";

/** The data for hydration, without the texts. They are in an attribute, because React escapes its value. */
export function PageForBrowser() {
  const { texts: _texts, nonce: _nonce, ...content } = usePage();
  return <data id={elementId} value={JSON.stringify(content)} hidden />;
}

export async function pageOfDocument(): Promise<PageContent> {
  const value = document.getElementById(elementId)?.getAttribute("value") ?? "";
  const content: Omit<PageContent, "texts" | "nonce"> = JSON.parse(value);
  // The mode and the credentials of the preload: with others, or with `crossorigin` there, WebKit loads the file twice.
  const answer = await fetch(content.textsPath, { mode: "no-cors", credentials: "include" });
  if (!answer.ok) throw new Error("The texts cannot be loaded; the page goes on without scripts.");
  return { ...content, texts: await answer.json(), nonce: "" };
}

/** Attributes of a `<link>` whose file is not needed to show the page. React 18 does not know `fetchPriority`. */
export const lowPriority: object = { fetchpriority: "low" };

const never = () => () => {};

/** False in the server's HTML and during hydration, true afterwards. Without JavaScript it stays false. */
export const useHydrated = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

/** Attributes of an element for browsers with passkeys. Its space is kept until hydration, so that nothing moves. */
export function usePasskeySupport(): { className?: string; hidden?: boolean } {
  return useHydrated() ? { hidden: !("PublicKeyCredential" in window) } : { className: "scripted" };
}
