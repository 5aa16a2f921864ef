import { en } from "./en";
import type { Language } from "./languages";
import type { Translated } from "./translate";

export type PageTexts = (typeof en)["pages"];
export type AnswerTexts = (typeof en)["answers"];
export type MailTexts = (typeof en)["mails"];

/** The texts of one language. */
export interface Texts {
  readonly pages: Translated<PageTexts>;
  readonly answers: Translated<AnswerTexts>;
  readonly mails: Translated<MailTexts>;
}

/** Every text of every language. Never in the browser's bundle. */
export const texts: Record<Language, Texts> = { en };
