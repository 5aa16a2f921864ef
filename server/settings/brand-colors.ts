import { darken, getContrast, lighten, mix, toHex } from "color2k";

export const defaultColor = "#0b6355";

/** The backgrounds of links and icons on pages and in mails, as in `app/styles/theme.css`. */
export const grounds = {
  light: ["#ffffff", "#f3f5f4"],
  dark: ["#1a201e", "#121615", "#131816"],
} as const;

export type BrandColors = ReturnType<typeof brandColors>;

const [black, white] = ["#000000", "#ffffff"];

/** The colours that are derived from `BRAND_COLOR`. All are `#rrggbb` in lower case. */
export function brandColors(color: string) {
  const onFill = getContrast(black, color) > getContrast(white, color) ? black : white;
  const light = readableOn(color, grounds.light, darken);
  const dark = readableOn(color, grounds.dark, lighten);
  return {
    /** A button's colour, and the same while the pointer is over it. */
    fill: color,
    fillOnHover: hoverOf(color, onFill),
    onFill,
    /** Text and icons in this colour, by theme. */
    text: { light, dark },
    textOnHover: { light: toHex(mix(light, black, 0.2)), dark: toHex(mix(dark, white, 0.2)) },
  };
}

/** The colour, its lightness moved in steps of 1 % until it is readable on each ground. */
function readableOn(color: string, grounds: readonly string[], move: typeof lighten): string {
  let text = color;
  for (let step = 1; !grounds.every((ground) => isReadable(text, ground)); step++)
    text = toHex(move(color, step / 100));
  return text;
}

/** Mixes the colour with the text's if the text stays readable, otherwise with the opposite. */
function hoverOf(fill: string, text: string): string {
  const towards = toHex(mix(fill, text, 0.15));
  return isReadable(text, towards) ? towards : toHex(mix(fill, text === black ? white : black, 0.15));
}

/** WCAG 2.2, success criterion 1.4.3. */
const isReadable = (text: string, ground: string) => getContrast(text, ground) >= 4.5;
