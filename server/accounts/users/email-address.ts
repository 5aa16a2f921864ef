const maximumLength = 254; // RFC 5321, section 4.5.3.1.3, without the angle brackets
const maximumLocalPart = 64; // RFC 5321, section 4.5.3.1.1

const shape =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** Trims and lower-cases A–Z only: Unicode case mapping (U+212A KELVIN SIGN to `k`) has taken over accounts. */
export const normalizeAddress = (typed: string) => typed.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The one stored spelling of an address; `null` for text that is no address, and for every one outside ASCII. */
export function parseAddress(typed: string): string | null {
  const text = normalizeAddress(typed);
  const isShort = text.length <= maximumLength && text.indexOf("@") <= maximumLocalPart;
  return isShort && shape.test(text) ? text : null;
}
