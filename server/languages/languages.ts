/** The languages of pages and mails: each by its own name, the locale of its dates and numbers, and its direction. */
export const languages = {
  en: { name: "English", locale: "en-GB", direction: "ltr" },
  de: { name: "Deutsch", locale: "de", direction: "ltr" },
  fr: { name: "Français", locale: "fr", direction: "ltr" },
  es: { name: "Español", locale: "es", direction: "ltr" },
  ja: { name: "日本語", locale: "ja", direction: "ltr" },
  ar: { name: "العربية", locale: "ar-u-nu-latn", direction: "rtl" }, // the digits of addresses and codes
} as const satisfies Record<string, { name: string; locale: string; direction: "ltr" | "rtl" }>;

/** An IETF language tag (RFC 5646) of one of the languages. */
export type Language = keyof typeof languages;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);
