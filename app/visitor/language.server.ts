import { answersIn, chooseLanguage } from "#server/features/visitor/language.server";
import { isLanguage, type Language } from "#server/languages/languages";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { isHttps, readCookie, writeCookie } from "./cookies.server";

const lifetime = 400 * 24 * 3600; // seconds: the most that browsers allow

const cookieName = (request: Request) => (isHttps(request) ? "__Host-language" : "language");

export const languageOf = (request: Request): Language =>
  chooseLanguage(readCookie(request, cookieName(request)), request.headers.get("Accept-Language"));

export const textsFor = (request: Request): Translate<AnswerTexts> => answersIn(languageOf(request));

/** The response, with the cookie of the visitor's choice besides. A language that there is not is no choice. */
export function withLanguage(request: Request, response: Response, chosen: string): Response {
  if (!isLanguage(chosen)) return response;
  const cookie = writeCookie(request, cookieName(request), chosen, { path: "/", maxAge: lifetime });
  response.headers.append("Set-Cookie", cookie);
  return response;
}
