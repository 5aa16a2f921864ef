import { byPath, type FingerprintedAsset, fingerprinted } from "../../fingerprinted-asset";
import { type Language, languages } from "../../languages/languages";
import { texts } from "../../languages/texts";

/** From here, a route whose page is empty does not make languages.ts a file of its own in the first load of every page. */
export { isLanguage } from "../../languages/languages";
export { answersIn } from "../../languages/texts";

export const pageTextsIn = (language: Language) => texts[language].pages;

function fileOf(language: Language) {
  const content = Buffer.from(JSON.stringify(pageTextsIn(language)));
  return fingerprinted(`texts-${language}`, ".json", "application/json; charset=utf-8", content);
}

const tags = Object.keys(languages) as Language[];
const files = Object.fromEntries(tags.map((tag) => [tag, fileOf(tag)])) as Record<Language, FingerprintedAsset>;

export const textFiles = byPath(Object.values(files));

export const textsPath = (language: Language): string => files[language].path;
