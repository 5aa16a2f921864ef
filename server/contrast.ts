/** A colour of sRGB: red, green and blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

export function parseColor(text: string): Rgb {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return [red, green, blue];
}

export const formatColor = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** WCAG 2.2, "relative luminance". */
export function relativeLuminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2, "contrast ratio": from 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [relativeLuminance(one), relativeLuminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];

/** Black or white, whichever has more contrast with the colour: at least 4.58. */
export const textOn = (color: Rgb): Rgb => (contrast(black, color) > contrast(white, color) ? black : white);

/** Hue from 0 to 6; saturation and lightness from 0 to 1. */
function toHsl([red, green, blue]: Rgb): [hue: number, saturation: number, lightness: number] {
  const most = Math.max(red, green, blue);
  const range = (most - Math.min(red, green, blue)) / 255;
  const lightness = most / 255 - range / 2;
  if (range === 0) return [0, 0, lightness];
  const saturation = range / (1 - Math.abs(2 * lightness - 1));
  if (most === red) return [((green - blue) / 255 / range + 6) % 6, saturation, lightness];
  if (most === green) return [(blue - red) / 255 / range + 2, saturation, lightness];
  return [(red - green) / 255 / range + 4, saturation, lightness];
}

/** CSS Color Module Level 4, section 7.1. */
function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const part = (at: number) => {
    const turn = (at + hue * 2) % 12;
    const chroma = saturation * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** The colour with its lightness in HSL moved by `share` of the way to white, or, below 0, to black. */
export function moveLightness(color: Rgb, share: number): Rgb {
  const [hue, saturation, lightness] = toHsl(color);
  return fromHsl(hue, saturation, share > 0 ? lightness + (1 - lightness) * share : lightness * (1 + share));
}

export const leastContrast = 4.5; // WCAG 2.2, success criterion 1.4.3

const steps = 200;

/**
 * The colour as text on each of the backgrounds: its lightness is moved, away from theirs, until the contrast is
 * sufficient. The backgrounds are all light or all dark.
 */
export function readableOn(color: Rgb, backgrounds: readonly Rgb[]): Rgb {
  const away = backgrounds.every((background) => textOn(background) === white) ? 1 : -1;
  for (let step = 0; step < steps; step++) {
    const moved = step === 0 ? color : moveLightness(color, (away * step) / steps);
    if (backgrounds.every((background) => contrast(moved, background) >= leastContrast)) return moved;
  }
  return away === 1 ? white : black;
}
