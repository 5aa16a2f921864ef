import * as z from "zod";

export const flag = z
  .enum(["true", "false"], "must be true or false")
  .default("false")
  .transform((value) => value === "true");

export function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export const webUrl = z.string().refine(isWebUrl, "must be an http or https URL");

export const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number")
  .transform(Number)
  .refine((port) => port >= 1 && port <= 65_535, "must be a port number");

export const headerValue = z.string().regex(/^[!-~]+$/, "must be printable ASCII without spaces");

/** A setting that another one asks for; its form is checked above. */
export const required = (why: string) => z.string(`is missing: ${why}`);

/** A setting that may be absent; its form is checked elsewhere. */
export const optional = z.string().nullable().default(null);
