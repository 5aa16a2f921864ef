import Negotiator from "negotiator";
import { config } from "#server/config";
import { factsOf, goneOf } from "#server/door/request-facts";
import { answersIn } from "#server/files/texts";
import { isLanguage, type Language, languages } from "#server/languages/languages";
import type { Visitor } from "#server/visitor/visitor";
import { ceremonyCookie, deviceCookie, languageCookie, sessionTokens } from "./cookies";

export const textsFor = (request: Request) => answersIn(languageOf(request));

export const visitorOf = (request: Request): Visitor => ({
  network: factsOf(request).client,
  language: languageOf(request),
  userAgent: userAgentOf(request),
  sessionTokens: sessionTokens(request),
  deviceToken: deviceCookie.read(request),
  ceremonyToken: ceremonyCookie.read(request),
  arrivedAt: factsOf(request).arrivedAt,
  gone: () => goneOf(request),
});

export const languageOf = (request: Request) =>
  chooseLanguage(languageCookie.read(request), request.headers.get("Accept-Language"));

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

export const userAgentOf = (request: Request) => request.headers.get("User-Agent")?.slice(0, longestHeader) ?? null;
