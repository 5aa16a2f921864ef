import * as z from "zod";
import { form, isWebUrl } from "./forms";
import { logo } from "./logo";
import type { Setting, Values } from "./setting";
import { isLoopback } from "./smtp-url";

// No line breaks and no characters that turn the direction of the text around them.
const name = /^[^\p{Cc}\p{Zl}\p{Zp}<>\u202a-\u202e\u2066-\u2069]{1,60}$/u;

const color = z.string().regex(/^#[0-9a-f]{6}$/i, "must be a colour as #rrggbb");

const pageUrl = form((text) => {
  const url = isWebUrl(text) ? new URL(text) : null;
  return url && (url.protocol === "https:" || isLoopback(url.hostname)) ? url.href : null;
}, "must be an https URL");

export const brandSettings = {
  BRAND_NAME: {
    form: z.string().trim().regex(name, "must be 1 to 60 printable characters without < and >"),
    default: "Latchkey",
    help: "The name in titles, pages and mails.",
  },
  BRAND_LOGO: { form: logo, help: "An SVG or PNG file, at most 100 KiB.", example: "/etc/latchkey/logo.svg" },
  BRAND_COLOR: {
    form: color.toLowerCase(),
    help: "`#rrggbb`; in quotes in a `.env` file, where `#` starts a comment.",
    example: '"#0b6355"',
  },
  TERMS_URL: { form: pageUrl, help: "In the foot of pages and mails.", example: "https://example.com/terms" },
  PRIVACY_URL: { form: pageUrl, help: "In the foot of pages and mails.", example: "https://example.com/privacy" },
  SUPPORT_EMAIL: {
    form: z.string().regex(/^[!#-;=?A-~]+@[!#-;=?A-~]+$/, "must be an email address"),
    help: "In the foot of pages and mails.",
    example: "help@example.com",
  },
} satisfies Record<string, Setting>;

export type BrandConfig = ReturnType<typeof brandConfig>;

/** What is `null` is not shown, or Latchkey's own. */
export const brandConfig = (v: Values<typeof brandSettings>) => ({
  name: v.BRAND_NAME,
  logo: v.BRAND_LOGO,
  color: v.BRAND_COLOR,
  termsUrl: v.TERMS_URL,
  privacyUrl: v.PRIVACY_URL,
  supportEmail: v.SUPPORT_EMAIL,
});
