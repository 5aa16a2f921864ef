import { byPath, type FingerprintedAsset, fingerprinted } from "../../fingerprinted-asset";
import { type Language, languages } from "../../languages/languages";
import { texts } from "../../languages/texts";

export { answersIn } from "../../languages/texts";

export const pageTextsIn = (language: Language) => texts[language].pages;

const fileOf = (language: Language): FingerprintedAsset =>
  fingerprinted(
    `texts-${language}`,
    ".json",
    "application/json; charset=utf-8",
    Buffer.from(JSON.stringify(pageTextsIn(language))),
  );

const files = Object.fromEntries(
  Object.keys(languages).map((language) => [language, fileOf(language as Language)]),
) as Record<Language, FingerprintedAsset>;

export const textFiles = byPath(Object.values(files));

export const textsPath = (language: Language): string => files[language].path;
