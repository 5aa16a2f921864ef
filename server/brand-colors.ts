import {
  contrast,
  formatColor,
  leastContrast,
  moveLightness,
  parseColor,
  type Rgb,
  readableOn,
  textOn,
} from "./contrast";

export const defaultColor = "#0b6355";

/** The grounds of pages and mails on which a link or an icon can stand, as in `app/styles/theme.css`. */
export const grounds = {
  light: ["#ffffff", "#f3f5f4"],
  dark: ["#1a201e", "#121615", "#131816"],
} as const;

/** Each as `#rrggbb`. */
export interface BrandColors {
  /** A button, and the same while the pointer is over it. */
  fill: string;
  fillOnHover: string;
  /** Text on a button. */
  onFill: string;
  /** Text and icons in this colour, by theme. */
  text: { light: string; dark: string };
  textOnHover: { light: string; dark: string };
}

/** Away from the text on the button, so that its contrast grows; towards it where there is no room. */
function hoverOf(fill: Rgb, text: Rgb): Rgb {
  const away = text[0] === 0 ? 0.15 : -0.15;
  const moved = moveLightness(fill, away);
  const hasRoom = contrast(moved, fill) > 1.1;
  return hasRoom || contrast(moveLightness(fill, -away), text) < leastContrast ? moved : moveLightness(fill, -away);
}

/** What `BRAND_COLOR` becomes. */
export function brandColors(color: string): BrandColors {
  const fill = parseColor(color);
  const onFill = textOn(fill);
  const light = readableOn(fill, grounds.light.map(parseColor));
  const dark = readableOn(fill, grounds.dark.map(parseColor));
  return {
    fill: formatColor(fill),
    fillOnHover: formatColor(hoverOf(fill, onFill)),
    onFill: formatColor(onFill),
    text: { light: formatColor(light), dark: formatColor(dark) },
    textOnHover: { light: formatColor(moveLightness(light, -0.2)), dark: formatColor(moveLightness(dark, 0.2)) },
  };
}
