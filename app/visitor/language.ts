import { answersIn, chooseLanguage } from "#server/features/visitor/language";
import type { Language } from "#server/languages/languages";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { languageCookie } from "./cookies";

export const languageOf = (request: Request): Language =>
  chooseLanguage(languageCookie.read(request), request.headers.get("Accept-Language"));

export const textsFor = (request: Request): Translate<AnswerTexts> => answersIn(languageOf(request));
