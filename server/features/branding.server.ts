import { createHash } from "node:crypto";
import { type BrandColors, brandColors } from "../brand-colors";
import { config } from "../config";
import { processValue } from "../process-value";
import type { BrandConfig } from "../settings/branding";

/** What the pages show of the brand. */
export interface PageBrand {
  name: string;
  /** The path of the logo; `null`: Latchkey's own. */
  logo: string | null;
  /** The path of the stylesheet with the brand's colours; `null`: the default theme. */
  colors: string | null;
  termsUrl: string | null;
  privacyUrl: string | null;
  supportEmail: string | null;
}

interface BrandFile {
  type: string;
  content: Buffer;
}

interface Branding {
  page: PageBrand;
  files: Map<string, BrandFile>;
}

/** Replaces the colours of `app/styles/theme.css`. */
function stylesheetOf(colors: BrandColors): string {
  const rules = (theme: "light" | "dark") => {
    const [text, hover] = [colors.text[theme], colors.textOnHover[theme]];
    return `:root:not([data-theme]){--pico-primary:${text};--pico-primary-hover:${hover};--pico-primary-underline:${text}80;--pico-primary-focus:${text};--pico-primary-background:${colors.fill};--pico-primary-hover-background:${colors.fillOnHover};--pico-primary-inverse:${colors.onFill}}`;
  };
  return `${rules("light")}@media (prefers-color-scheme:dark){${rules("dark")}}`;
}

function brandingOf({ name, logo, color, termsUrl, privacyUrl, supportEmail }: BrandConfig): Branding {
  const files = new Map<string, BrandFile>();
  const page: PageBrand = { name, logo: null, colors: null, termsUrl, privacyUrl, supportEmail };
  if (logo) {
    const file = `logo-${logo.hash}.${logo.type === "image/png" ? "png" : "svg"}`;
    files.set(file, logo);
    page.logo = `/brand/${file}`;
  }
  if (color) {
    const content = Buffer.from(stylesheetOf(brandColors(color)));
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
    files.set(`colors-${hash}.css`, { type: "text/css; charset=utf-8", content });
    page.colors = `/brand/colors-${hash}.css`;
  }
  return { page, files };
}

const made = processValue<{ from: BrandConfig; branding: Branding }>("branding");

function branding(): Branding {
  const { brand } = config();
  if (made.current?.from !== brand) made.current = { from: brand, branding: brandingOf(brand) };
  return made.current.branding;
}

export const pageBrand = (): PageBrand => branding().page;

/** A file under `/brand/`; `null` for another name. */
export const brandFile = (name: string): BrandFile | null => branding().files.get(name) ?? null;
