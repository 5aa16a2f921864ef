import Negotiator from "negotiator";
import { config } from "../../config";
import { byPath, type FingerprintedAsset, fingerprinted } from "../../fingerprinted-asset";
import { isLanguage, type Language, languages } from "../../languages/languages";
import { texts } from "../../languages/texts";
import { oncePerLanguage } from "../../languages/translate";

export { isLanguage } from "../../languages/languages";
export { answersIn } from "../../languages/texts";
export { momentIn } from "../../languages/translate";

const longestHeader = 512; // characters; browsers send fewer than 200

/** The chosen one, the best of `Accept-Language` (RFC 9110, section 12.5.4; RFC 4647, section 3.4), or the default. */
export function chooseLanguage(chosen: string | null, acceptLanguage: string | null): Language {
  if (chosen !== null && isLanguage(chosen)) return chosen;
  const { defaultLanguage } = config();
  // `*` matches the first.
  const known = [defaultLanguage, ...Object.keys(languages)];
  const headers = { "accept-language": acceptLanguage?.slice(0, longestHeader) || undefined };
  const [best] = new Negotiator({ headers }).languages(known);
  return best !== undefined && isLanguage(best) ? best : defaultLanguage;
}

const seconds = { day: 86_400, hour: 3_600, minute: 60 } as const;
const units = ["day", "hour", "minute"] as const;

const relativeFormat = oncePerLanguage((locale) => new Intl.RelativeTimeFormat(locale));
const nowIn = oncePerLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(0, "second"));

/** How long ago it was, rounded down: "now" within the first minute. @param now in ms */
export function agoIn(language: Language, at: Date, now = Date.now()): string {
  const age = (now - at.getTime()) / 1000;
  const unit = units.find((unit) => age >= seconds[unit]);
  return unit ? relativeFormat(language).format(-Math.floor(age / seconds[unit]), unit) : nowIn(language);
}

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
