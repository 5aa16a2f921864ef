import Bowser from "bowser";

const unknown = "An unknown browser";
const known: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));

/**
 * A `User-Agent` as people know it, e.g. `Firefox on Linux`. Only names of bowser's own table: of other browsers it
 * returns a part of the header, and a mail would carry an attacker's text.
 */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return unknown;
  const { browser, os } = Bowser.parse(userAgent);
  const name = browser.name && known.has(browser.name) ? browser.name : unknown;
  return `${name}${os.name ? ` on ${os.name}` : ""}`;
}
