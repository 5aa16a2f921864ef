import { config } from "../config";
import type { Language } from "../languages/languages";
import { answersIn } from "../languages/texts";
import { providers } from "./providers";

/** The provider's name on buttons, notices and mails; `null` when external sign-in is off. */
export function providerLabel(language: Language): string | null {
  const { identityProvider } = config();
  if (!identityProvider) return null;
  const { name, provider } = identityProvider;
  return name ?? providers[provider].label ?? answersIn(language)("provider.singleSignOn");
}

/** The id of the provider's symbol in app/components/provider-marks.svg. */
export function providerMark(): string {
  const { identityProvider } = config();
  return (identityProvider && providers[identityProvider.provider].label) ?? "other";
}
