import {
  cloneElement,
  createContext,
  createElement,
  Fragment,
  type ReactElement,
  type ReactNode,
  useContext,
  useSyncExternalStore,
} from "react";
import type { PageTexts } from "#server/languages/texts";
import { fill, type TextKey, type Translate, templateOf, translator, type Values } from "#server/languages/translate";
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

export const useTexts = () => usePage().t;

export type PageText = TextKey<PageTexts>;

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

const elementId = "page-content";

/** The data for hydration, without the texts. They are in an attribute, because React escapes its value. */
export function PageForBrowser() {
  const { texts: _texts, nonce: _nonce, ...content } = usePage();
  return <data id={elementId} value={JSON.stringify(content)} hidden />;
}

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("The page has no content.");
  return page;
}

export async function pageOfDocument(): Promise<PageContent> {
  const value = document.getElementById(elementId)?.getAttribute("value") ?? "";
  const content: Omit<PageContent, "texts" | "nonce"> = JSON.parse(value);
  // The mode and the credentials of the preload: with others, or with `crossorigin` there, WebKit loads the file twice.
  const answer = await fetch(content.textsPath, { mode: "no-cors", credentials: "include" });
  if (!answer.ok) throw new Error("The texts cannot be loaded; the page goes on without scripts.");
  return { ...content, texts: await answer.json(), nonce: "" };
}

/** Attributes of an element for browsers with passkeys. Its space is kept until hydration, so that nothing moves. */
export function usePasskeySupport(): { className?: string; hidden?: boolean } {
  return useHydrated() ? { hidden: !("PublicKeyCredential" in window) } : { className: "scripted" };
}

/** False in the server's HTML and during hydration, true afterwards. Without JavaScript it stays false. */
export const useHydrated = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

/** Attributes of a `<link>` whose file is not needed to show the page. React 18 does not know `fetchPriority`. */
export const lowPriority: object = { fetchpriority: "low" };

const never = () => () => {};
