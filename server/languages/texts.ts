import { ar } from "./ar";
import { de } from "./de";
import { type AnswerTexts, en, type MailTexts, type Texts } from "./en";
import { es } from "./es";
import { fr } from "./fr";
import { ja } from "./ja";
import type { Language } from "./languages";
import { type Translate, translator } from "./translate";

export type { AnswerTexts, MailTexts, PageTexts, Texts } from "./en";

/** Every text of every language. Never in the browser's bundle. */
export const texts: Record<Language, Texts> = { en, de, fr, es, ja, ar };

export const answersIn = (language: Language): Translate<AnswerTexts> =>
  translator<AnswerTexts>(language, texts[language].answers);

export const mailTextsIn = (language: Language): Translate<MailTexts> =>
  translator<MailTexts>(language, texts[language].mails);
