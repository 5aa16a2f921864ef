import { factsOf, goneOf } from "#server/door/request-facts";
import type { Owner, SignedIn } from "#server/features/owner/signed-in";
import type { Visitor } from "#server/visitor";
import { languageOf } from "./accepted-language";
import { ceremonyCookie, deviceCookie, sessionTokens } from "./cookies";

export const visitorOf = (request: Request): Visitor => ({
  network: factsOf(request).client,
  language: languageOf(request),
  userAgent: request.headers.get("User-Agent"),
  sessionTokens: sessionTokens(request),
  deviceToken: deviceCookie.read(request),
  ceremonyToken: ceremonyCookie.read(request),
  arrivedAt: factsOf(request).arrivedAt,
  gone: () => goneOf(request),
});

/** The visitor as the owner of the account that its session belongs to. */
export const ownerOf = (request: Request, signedIn: SignedIn): Owner => ({
  ...visitorOf(request),
  ...signedIn,
});
