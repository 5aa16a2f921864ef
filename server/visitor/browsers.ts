import Bowser from "bowser";
import type { Language } from "../languages/languages";
import { answersIn } from "../languages/texts";

export type BrowserNames = Record<"browser" | "system", string | null>;

export const browserName = (userAgent: string | null, language: Language): string =>
  browserText(browserNames(userAgent), language);

export function browserText({ browser, system }: BrowserNames, language: Language): string {
  const t = answersIn(language);
  if (system === null) return browser ?? t("browser.unknown");
  return browser === null ? t("browser.unknownOnSystem", { system }) : t("browser.onSystem", { browser, system });
}

const knownBrowsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));

/** For an unknown browser, bowser returns a part of the header, which an attacker can choose. */
export function browserNames(userAgent: string | null): BrowserNames {
  const { browser, os } = userAgent ? Bowser.parse(userAgent) : { browser: {}, os: {} };
  const known = browser.name && knownBrowsers.has(browser.name) ? browser.name : null;
  return { browser: known?.replace(/ for Android$/, "") ?? null, system: os.name ?? null };
}
