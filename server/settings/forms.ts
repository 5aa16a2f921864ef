import { isIP } from "node:net";
import * as z from "zod";

/** What `parse` makes of a text; the problem where that is `null`. */
export const form = <Value>(parse: (text: string) => Value | null, problem: string) =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value === null) context.addIssue(problem);
    return value ?? z.NEVER;
  });

/** The parts of a list with commas, if each can be parsed. */
export const list = (parse: (part: string) => string | null, problem: string) =>
  form((text) => {
    const parts = text === "" ? [] : text.split(",").map((part) => parse(part.trim()));
    return parts.includes(null) ? null : parts.filter((part) => part !== null);
  }, problem);

const alternatives = new Intl.ListFormat("en-GB", { type: "disjunction" });

export const oneOf = <const Name extends string>(...names: Name[]) =>
  z.enum(names, `must be ${alternatives.format(names)}`);

export const flag = oneOf("true", "false").transform((value) => value === "true");

export const freeText = z.string().regex(/\S/, "must not be blank");

export const headerValue = z.string().regex(/^[!-~]+$/, "must be printable ASCII without spaces");

const parsePort = (text: string) => (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null);

export const port = form(parsePort, "must be a port number");

/** A host as it stands in a URL: an IPv6 address in brackets. */
export const urlHost = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);

const isHost = (text: string) => URL.canParse(`http://${urlHost(text)}`) && (isIP(text) > 0 || /^[\w.-]+$/.test(text));

export const host = z.string().refine(isHost, "must be an address or a host name");

export const isWebUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

export const webUrl = z.string().refine(isWebUrl, "must be an http or https URL");

/** The origin in the spelling of the URL Standard; `null` when the text has more than an origin, or is none. */
export function parseOrigin(text: string): string | null {
  if (!isWebUrl(text)) return null;
  const { origin, href } = new URL(text);
  return href === `${origin}/` ? origin : null;
}
