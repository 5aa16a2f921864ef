import Bowser from "bowser";
import type { Language } from "../../languages/languages";
import { answersIn } from "../../languages/texts";

const known: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));

/** For an unknown browser, bowser returns a part of the header, which an attacker can choose. */
export function browserName(userAgent: string | null, language: Language): string {
  const t = answersIn(language);
  const { browser, os } = userAgent ? Bowser.parse(userAgent) : { browser: {}, os: {} };
  const name = browser.name && known.has(browser.name) ? browser.name : null;
  if (!os.name) return name ?? t("browser.unknown");
  return name === null
    ? t("browser.unknownOnSystem", { system: os.name })
    : t("browser.onSystem", { browser: name, system: os.name });
}
