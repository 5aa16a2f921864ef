/** One line of a plot. Each line has its own scale from zero. */
interface Line {
  name: string;
  points: [number, number][];
}

const width = 720;
const height = 140;
const left = 60;
const bottom = 24;

function panel({ name, points }: Line, top: number, right: number): string {
  const most = Math.max(...points.map(([, y]) => y)) * 1.15;
  const place = ([x, y]: [number, number]) =>
    `${(left + (x / right) * (width - left - 10)).toFixed(1)},${(top + (height - bottom) * (1 - y / most)).toFixed(1)}`;
  const floor = top + height - bottom;
  const last = points.at(-1)?.[1] ?? 0;
  return [
    `<text x="${left}" y="${top - 4}">${name}: ${last.toFixed(0)} at the end</text>`,
    `<path d="M${left} ${top}V${floor}H${width - 10}"/>`,
    `<text x="${left - 6}" y="${top + 10}" text-anchor="end">${most.toFixed(0)}</text>`,
    `<text x="${left - 6}" y="${floor}" text-anchor="end">0</text>`,
    `<polyline points="${points.map(place).join(" ")}"/>`,
  ].join("\n");
}

/** An SVG with one panel for each line, above a common axis; readable on light and on dark. */
export function plot(title: string, axis: string, lines: Line[]): string {
  const right = Math.max(...lines.flatMap(({ points }) => points.map(([x]) => x)));
  const bottomOfAll = lines.length * height + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottomOfAll}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<style>
text { fill: #6b7280; }
path, polyline { fill: none; stroke: #6b7280; }
polyline { stroke: #0f8a6d; stroke-width: 1.5; }
</style>
${lines.map((line, index) => panel(line, 20 + index * height, right)).join("\n")}
<text x="${width - 10}" y="${bottomOfAll - 8}" text-anchor="end">${right.toFixed(0)} ${axis}</text>
</svg>
`;
}
