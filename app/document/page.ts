import { config } from "#server/config";
import { pageBrand } from "#server/features/visitor/branding";
import { providerLabel, providerMark } from "#server/features/visitor/external-sign-in";
import { pageTextsIn, textsPath } from "#server/features/visitor/language";
import type { Language } from "#server/languages/languages";

/** What every page needs in addition to its route's data. */
export function pageOf(language: Language, nonce: string) {
  const { on, minimumLength } = config().passwords;
  return {
    language,
    textsPath: textsPath(language),
    texts: pageTextsIn(language),
    brand: pageBrand(),
    shortestPassword: minimumLength, // in Unicode code points
    /** With `PASSWORDS=off`, the label of the provider that accounts come from; otherwise `null`. */
    passwordless: on ? null : providerLabel(language),
    providerMark: providerMark(),
    nonce, // of the page's policy; empty in a browser, which hides it from scripts
  };
}

const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
const policyStart = "default-src 'self'; script-src 'self'";
const policyEnd = `style-src 'self'; img-src 'self' https: data:; connect-src 'self'${liveReload}; object-src 'none'; base-uri 'none'`;

/** @param formTarget another allowed origin: `form-action` also applies to the redirects after a form */
export const contentSecurityPolicy = (nonce: string, formTarget: string | undefined) =>
  `${policyStart} 'nonce-${nonce}'; ${policyEnd}; form-action 'self'${formTarget ? ` ${formTarget}` : ""}; frame-ancestors 'none'`;
