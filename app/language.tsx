import { createContext, Fragment, type ReactNode, useContext } from "react";
import { type Language, languages } from "#server/languages/languages";
import type { PageTexts } from "#server/languages/texts";
import {
  fill,
  type TextKey,
  type Translate,
  type Translated,
  templateOf,
  translator,
  type Values,
} from "#server/languages/translate";
import { useNonce } from "./nonce";

export type PageText = TextKey<PageTexts>;

/** The texts that need no value. */
export type PlainPageText = { [Key in PageText]: Values<PageTexts, Key> extends [] ? Key : never }[PageText];

/** A page's texts as they go to the browser: as JSON in the page. */
export interface PageLanguage {
  language: Language;
  texts: Translated<PageTexts>;
  json: string;
}

const LanguageContext = createContext<PageLanguage | null>(null);

export const LanguageProvider = LanguageContext.Provider;

const textsId = "texts";

/** The language and the texts of the page that the server sent. */
export function languageOfDocument(): PageLanguage {
  const json = document.getElementById(textsId)?.textContent ?? "";
  return { language: document.documentElement.lang as Language, texts: JSON.parse(json), json };
}

function usePageLanguage(): PageLanguage {
  const page = useContext(LanguageContext);
  if (!page) throw new Error("The page has no language.");
  return page;
}

/** `lang` and `dir` of the page. */
export function useDocumentLanguage(): { lang: Language; dir: "ltr" | "rtl" } {
  const { language } = usePageLanguage();
  return { lang: language, dir: languages[language].direction };
}

/** The page's texts, for hydration. */
export function TextsForBrowser() {
  const { json } = usePageLanguage();
  const nonce = useNonce();
  return (
    <script
      id={textsId}
      type="application/json"
      nonce={nonce}
      suppressHydrationWarning
      // biome-ignore lint/security/noDangerouslySetInnerHtml: JSON of our own texts, in which `<` is escaped
      dangerouslySetInnerHTML={{ __html: json }}
    />
  );
}

/** Turns keys into texts of the page's language. */
export function useTexts(): Translate<PageTexts> {
  const { language, texts } = usePageLanguage();
  return translator<PageTexts>(language, texts);
}

interface TextProps<Key extends PageText> {
  of: Key;
  values?: Values<PageTexts, Key>[0];
  /** What `<name>…</name>` in the text becomes. */
  parts: Record<string, (text: string) => ReactNode>;
}

/** A text with elements in it. */
export function Text<Key extends PageText>({ of, values, parts }: TextProps<Key>) {
  const { language, texts } = usePageLanguage();
  const pieces = templateOf(language, texts, of, values).split(/(<\w+>.*?<\/\w+>)/);
  return pieces.map((piece) => {
    const [, name, inner] = /^<(\w+)>(.*)<\/\w+>$/.exec(piece) ?? [];
    const part = name && parts[name];
    return (
      <Fragment key={piece}>
        {part ? part(fill(language, inner ?? "", values)) : fill(language, piece, values)}
      </Fragment>
    );
  });
}
