import { findFile, pageBrand } from "#server/features/visitor/branding.server";
import { pageTextsIn, textsPath } from "#server/features/visitor/language.server";
import { shortestPassword } from "#server/features/visitor/password-policy.server";
import { languageOf } from "~/visitor/language.server";
import type { PageContent } from "./page-context";

export function pageOf(request: Request, nonce: string): PageContent {
  const language = languageOf(request);
  return {
    language,
    textsPath: textsPath(language),
    texts: pageTextsIn(language),
    brand: pageBrand(),
    shortestPassword: shortestPassword(),
    nonce,
  };
}

const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
const policyStart = "default-src 'self'; script-src 'self'";
const policyEnd = `style-src 'self'; img-src 'self' https: data:; connect-src 'self'${liveReload}; object-src 'none'; base-uri 'none'`;

/** @param formTarget an origin besides our own: `form-action` also applies to the redirects after a form */
export const contentSecurityPolicy = (nonce: string, formTarget: string | null) =>
  `${policyStart} 'nonce-${nonce}'; ${policyEnd}; form-action 'self'${formTarget ? ` ${formTarget}` : ""}; frame-ancestors 'none'`;

/** An SVG may have scripts and links to other sites: opened as a page of its own, it can run and load nothing. */
export function fileAnswer(request: Request): Response | null {
  const file = findFile(new URL(request.url).pathname);
  if (!file) return null;
  return new Response(new Uint8Array(file.content), {
    headers: {
      "Content-Type": file.type,
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "Cache-Control": "public, max-age=31536000, immutable",
    },
  });
}
