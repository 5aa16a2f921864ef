import { readFileSync, statSync } from "node:fs";
import * as z from "zod";
import { isWebUrl } from "./forms";
import { isLoopback } from "./smtp-url";

export interface BrandLogo {
  readonly type: "image/svg+xml" | "image/png";
  readonly content: Buffer;
}

export interface BrandConfig {
  readonly name: string;
  /** `null`: Latchkey's. */
  readonly logo: BrandLogo | null;
  /** `#rrggbb` in lower case; `null`: the default theme. */
  readonly color: string | null;
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
  readonly supportEmail: string | null;
}

export const defaultName = "Latchkey";

const largestLogo = 102_400; // bytes

const pngStart = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
const pngEnd = Buffer.from("\0\0\0\0IEND\xaeB`\x82", "latin1");

const isPng = (content: Buffer) =>
  content.subarray(0, pngStart.length).equals(pngStart) && content.subarray(-pngEnd.length).equals(pngEnd);

/**
 * UTF-8 whose root element is SVG's. Whether it has scripts does not matter, because its answer's policy runs none. A
 * document type with entities of its own is refused.
 */
function isSvg(content: Buffer): boolean {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return false;
  }
  const start = text
    .replace(/<!--[\s\S]*?-->/g, "")
    .trim()
    .replace(/^<\?xml\s[^>]*\?>\s*/, "")
    .replace(/^<!DOCTYPE\s+svg\b[^>[]*>\s*/i, "");
  const root = /^<svg\s[^>]*?\bxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(start);
  return root && /(?:<\/svg\s*>|^<svg\s[^>]*\/>)$/.test(start);
}

function readLogo(path: string, context: z.RefinementCtx): BrandLogo {
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  let content: Buffer;
  try {
    const { size } = statSync(path);
    if (size > largestLogo) return refuse("must be at most 100 KiB");
    content = readFileSync(path);
  } catch (error) {
    return refuse(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  const type = isPng(content) ? "image/png" : isSvg(content) ? "image/svg+xml" : null;
  if (type === null) return refuse("must be an SVG or PNG file");
  return { type, content };
}

const isPublicUrl = (text: string) => {
  if (!isWebUrl(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname.replace(/^\[(.+)\]$/, "$1"));
};

const pageUrl = z
  .string()
  .refine(isPublicUrl, "must be an https URL")
  .transform((text) => new URL(text).href);

/** The form of each setting by itself. */
export const brandForms = {
  BRAND_NAME: z
    .string()
    .transform((text) => text.trim())
    // No line breaks and no characters that turn the direction of the text around them.
    .refine((text) => /^[^\p{Cc}\p{Zl}\p{Zp}<>\u202a-\u202e\u2066-\u2069]{1,60}$/u.test(text), {
      error: "must be 1 to 60 printable characters without < and >",
    })
    .default(defaultName),
  BRAND_LOGO: z.string().transform(readLogo).optional(),
  BRAND_COLOR: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, "must be a colour as #rrggbb")
    .transform((text) => text.toLowerCase())
    .optional(),
  TERMS_URL: pageUrl.optional(),
  PRIVACY_URL: pageUrl.optional(),
  SUPPORT_EMAIL: z
    .string()
    .regex(/^[!#-;=?A-~]+@[!#-;=?A-~]+$/, "must be an email address")
    .optional(),
};

const brandShape = z.object(brandForms);

export function brandOf(settings: z.output<typeof brandShape>): BrandConfig {
  return {
    name: settings.BRAND_NAME,
    logo: settings.BRAND_LOGO ?? null,
    color: settings.BRAND_COLOR ?? null,
    termsUrl: settings.TERMS_URL ?? null,
    privacyUrl: settings.PRIVACY_URL ?? null,
    supportEmail: settings.SUPPORT_EMAIL ?? null,
  };
}
