import { type Language, languages } from "../languages/languages";
import { texts } from "../languages/texts";
import { byPath, type FingerprintedAsset, fingerprinted } from "./fingerprinted";

// app/routes/language.tsx imports it from here: its import of languages.ts would put that file into a chunk of its own,
// which the first load of every page would have.
export { isLanguage } from "../languages/languages";
export { answersIn } from "../languages/texts";

const tags = Object.keys(languages) as Language[];
const files = Object.fromEntries(tags.map((tag) => [tag, fileOf(tag)])) as Record<Language, FingerprintedAsset>;

export const textFiles = byPath(Object.values(files));

export const textsPath = (language: Language): string => files[language].path;

function fileOf(language: Language) {
  const content = Buffer.from(JSON.stringify(pageTextsIn(language)));
  return fingerprinted(`texts-${language}`, ".json", "application/json; charset=utf-8", content);
}

export function pageTextsIn(language: Language) {
  return texts[language].pages;
}
