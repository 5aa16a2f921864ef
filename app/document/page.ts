import { config } from "#server/config";
import { pageBrand } from "#server/files/branding";
import { pageTextsIn, textsPath } from "#server/files/texts";
import type { Language } from "#server/languages/languages";
import { providerLabel, providerMark } from "#server/provider/label";

/** What every page needs in addition to its route's data. */
export function pageOf(language: Language, nonce: string) {
  const { passwords } = config();
  return {
    language,
    textsPath: textsPath(language),
    texts: pageTextsIn(language),
    brand: pageBrand(),
    shortestPassword: passwords.minimumLength, // in Unicode code points
    /** With `PASSWORDS=off`, the label of the provider that accounts come from; otherwise `null`. */
    passwordless: passwords.on ? null : providerLabel(language),
    providerMark: providerMark(),
    nonce, // of the page's policy; empty in a browser, which hides it from scripts
  };
}
