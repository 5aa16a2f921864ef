import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { parsed } from "./formats";

export const logo = parsed(parseLogo, "must be an SVG or PNG file that can be read, of at most 100 KiB");

function parseLogo(path: string): { type: "image/png" | "image/svg+xml"; content: Buffer } | null {
  try {
    const content = readFileSync(path);
    const type = isPng(content) ? "image/png" : isSvg(content) ? "image/svg+xml" : null;
    return type && content.length <= 102_400 ? { type, content } : null;
  } catch {
    return null;
  }
}

const isPng = (content: Buffer) => content.toString("latin1").startsWith("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");

/** Whether its root element is SVG's. Scripts in it do not matter, because its answer's policy runs none. */
function isSvg(content: Buffer): boolean {
  const start = content
    .toString()
    .replace(/<!--[\s\S]*?-->/g, "")
    .trim()
    .replace(/^<\?xml\s[^>]*\?>\s*/, "")
    .replace(/^<!DOCTYPE\s+svg\b[^>[]*>\s*/i, "");
  return isUtf8(content) && /^<svg\s[^>]*?\bxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(start);
}
