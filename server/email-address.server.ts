import * as z from "zod";

const maximumLength = 254; // RFC 5321, section 4.5.3.1.3, without the angle brackets

const shape =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/** Trimmed, with A–Z lower-cased: Unicode case mapping (U+212A KELVIN SIGN to `k`) has taken over accounts. */
export const normalizeAddress = (typed: string) => typed.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The one stored spelling of an address. Only ASCII is one. */
export const emailAddress = z
  .string()
  .transform(normalizeAddress)
  .refine(
    (text) => text.length <= maximumLength && text.indexOf("@") <= 64 && shape.test(text),
    "Enter an email address.",
  );
