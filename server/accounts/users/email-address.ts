import { domainToASCII } from "node:url";

const maximumLength = 254; // RFC 5321, section 4.5.3.1.3, without the angle brackets
const maximumLocalPart = 64; // RFC 5321, section 4.5.3.1.1

const shape =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** Excludes the ASCII that `domainToASCII` would decode or cut off: `%41`, `/x`, `:80`. */
const internationalDomain = /^(?=.*[^\0-\x7f])[a-z0-9.\u0080-\u{10ffff}-]+$/u;

/** The one stored spelling of an address that a person typed; `null` for text that is not an address. */
export const parseAddress = (typed: string): string | null => parseAsciiAddress(normalizeAddress(typed));

/** For an address of a provider or a file. Its domain is not mapped: `null` also for every address outside ASCII. */
export function parseAsciiAddress(stated: string): string | null {
  const text = lowerCased(stated);
  const isShort = text.length <= maximumLength && text.indexOf("@") <= maximumLocalPart;
  return isShort && shape.test(text) ? text : null;
}

/** Maps the domain as browsers do (UTS 46). Chromium posts a field of type `email` mapped, Firefox as typed. */
export function normalizeAddress(typed: string): string {
  const text = lowerCased(typed);
  const domain = text.slice(text.lastIndexOf("@") + 1);
  if (text.length > maximumLength || !internationalDomain.test(domain)) return text;
  return text.slice(0, -domain.length) + domainToASCII(domain);
}

/** Trims and lower-cases A–Z only: Unicode case mapping (U+212A KELVIN SIGN to `k`) has taken over accounts. */
const lowerCased = (text: string) => text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
