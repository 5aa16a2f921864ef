import { type Language, languages } from "./languages";

/** A text that depends on a number: one form for each plural category of the language (CLDR). */
export type Plural = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string };

/** Sections of texts. `{name}` in a text is replaced by a value, `<name>…</name>` by an element. */
export type Sections = { readonly [Section: string]: { readonly [Name: string]: string | Plural } };

/** The same texts in another language. */
export type Translated<Texts> = {
  readonly [Section in keyof Texts]: {
    readonly [Name in keyof Texts[Section]]: Texts[Section][Name] extends string ? string : Plural;
  };
};

/** `section.name` of a text. */
export type TextKey<Texts> = {
  [Section in keyof Texts & string]: `${Section}.${keyof Texts[Section] & string}`;
}[keyof Texts & string];

type Entry<Texts, Key> = Key extends `${infer Section extends keyof Texts & string}.${infer Name}`
  ? Texts[Section][Name & keyof Texts[Section]]
  : never;

type Placeholder<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;

type ValueName<Text> = Text extends { other: infer Other } ? Placeholder<Other> | "count" : Placeholder<Text>;

/** The values that a text needs: none, or an object with one for each placeholder. */
export type Values<Texts, Key> = [ValueName<Entry<Texts, Key>>] extends [never]
  ? []
  : [values: Record<ValueName<Entry<Texts, Key>>, string | number>];

/** Turns a key into the text of one language. */
export type Translate<Texts> = <Key extends TextKey<Texts>>(key: Key, ...values: Values<Texts, Key>) => string;

/** Makes each of `Intl`'s objects once: that costs more than using it. */
export function oncePerLanguage<T>(make: (locale: string) => T): (language: Language) => T {
  const made = new Map<Language, T>();
  return (language) => {
    const one = made.get(language) ?? make(languages[language].locale);
    made.set(language, one);
    return one;
  };
}

const pluralRules = oncePerLanguage((locale) => new Intl.PluralRules(locale));
const numberFormat = oncePerLanguage((locale) => new Intl.NumberFormat(locale));

export function translator<Texts extends Sections>(language: Language, texts: Translated<Texts>): Translate<Texts> {
  return (key, ...[values]) => {
    const template = templateOf(language, texts as Sections, key, values);
    return values ? fill(language, template, values) : template;
  };
}

/** The text with its placeholders, in the plural form of `values.count`. */
export function templateOf(
  language: Language,
  texts: Sections,
  key: string,
  values: Record<string, string | number> = {},
): string {
  const [section = "", name = ""] = key.split(/\.(.*)/); // the name of an event has a dot
  return selectForm(language, texts[section]?.[name] ?? key, values.count);
}

function selectForm(language: Language, text: string | Plural, count: string | number | undefined): string {
  if (typeof text === "string") return text;
  return text[pluralRules(language).select(Number(count))] ?? text.other;
}

/** Replaces each placeholder by its value, and writes numbers as the language does. */
export function fill(language: Language, template: string, values: Record<string, string | number> = {}): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name] ?? placeholder;
    return typeof value === "number" ? numberFormat(language).format(value) : value;
  });
}

const listFormat = oncePerLanguage((locale) => new Intl.ListFormat(locale));

export const listIn = (language: Language, items: string[]): string => listFormat(language).format(items);

/** Date and time in UTC: the server does not know the reader's time zone. */
export const momentIn = (language: Language, at: Date): string => utcFormat(language).format(at);

/** Date and time in the time zone of this computer: the reader's, in a browser. */
export const localMomentIn = (language: Language, at: Date): string => localFormat(language).format(at);

const utcFormat = oncePerLanguage((locale) => momentFormat(locale, "UTC"));
const localFormat = oncePerLanguage((locale) => momentFormat(locale));

const momentFormat = (locale: string, timeZone?: string) =>
  new Intl.DateTimeFormat(locale, {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
    timeZoneName: "short",
  });
