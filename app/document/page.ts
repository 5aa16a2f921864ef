import { config } from "#server/config";
import { pageBrand } from "#server/features/visitor/branding";
import { providerLabel } from "#server/features/visitor/external-sign-in";
import { pageTextsIn, textsPath } from "#server/features/visitor/language";
import type { Language } from "#server/languages/languages";
import type { PageContent } from "./page-context";

export function pageOf(language: Language, nonce: string): PageContent {
  const { on, minimumLength } = config().passwords;
  return {
    language,
    textsPath: textsPath(language),
    texts: pageTextsIn(language),
    brand: pageBrand(),
    shortestPassword: minimumLength,
    passwordless: on ? null : providerLabel(language),
    nonce,
  };
}

const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
const policyStart = "default-src 'self'; script-src 'self'";
const policyEnd = `style-src 'self'; img-src 'self' https: data:; connect-src 'self'${liveReload}; object-src 'none'; base-uri 'none'`;

/** @param formTarget another allowed origin: `form-action` also applies to the redirects after a form */
export const contentSecurityPolicy = (nonce: string, formTarget: string | undefined) =>
  `${policyStart} 'nonce-${nonce}'; ${policyEnd}; form-action 'self'${formTarget ? ` ${formTarget}` : ""}; frame-ancestors 'none'`;
