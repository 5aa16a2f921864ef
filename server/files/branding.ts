import { type BrandConfig, config } from "../config";
import { processValue } from "../process/value";
import type { BrandColors } from "../settings/brand-colors";
import { byPath, type FingerprintedAsset, fingerprinted } from "./fingerprinted";
import { textFiles } from "./texts";

/** What the pages show of the brand. The logo and the stylesheet with the colours are paths. */
export const pageBrand = () => branding().page;

export const findFile = (path: string): FingerprintedAsset | undefined =>
  branding().files.get(path) ?? textFiles.get(path);

const made = processValue<{ from: BrandConfig; branding: ReturnType<typeof brandingOf> }>("branding");

function branding() {
  const { brand } = config();
  if (made.current?.from !== brand) made.current = { from: brand, branding: brandingOf(brand) };
  return made.current.branding;
}

function brandingOf({ logo, color, colors, ...shown }: BrandConfig) {
  const logoFile = logo && fingerprinted("logo", logo.type === "image/png" ? ".png" : ".svg", logo.type, logo.content);
  const colorsFile = color === null ? null : stylesheetOf(colors);
  return {
    page: { ...shown, logo: logoFile?.path ?? null, colors: colorsFile?.path ?? null },
    files: byPath([logoFile, colorsFile].filter((file) => file !== null)),
  };
}

function stylesheetOf(colors: BrandColors): FingerprintedAsset {
  const rules = (theme: "light" | "dark") => {
    const [text, hover] = [colors.text[theme], colors.textOnHover[theme]];
    return `:root:not([data-theme]){--pico-primary:${text};--pico-primary-hover:${hover};--pico-primary-underline:${text}80;--pico-primary-focus:${text};--pico-primary-background:${colors.fill};--pico-primary-hover-background:${colors.fillOnHover};--pico-primary-inverse:${colors.onFill}}`;
  };
  const css = `${rules("light")}@media (prefers-color-scheme:dark){${rules("dark")}}`;
  return fingerprinted("colors", ".css", "text/css; charset=utf-8", Buffer.from(css));
}
