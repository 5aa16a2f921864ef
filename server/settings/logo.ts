import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import * as z from "zod";

const largest = 102_400; // bytes

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

/** The path of a file, which is read and checked. */
export const logo = z.string().transform((path, context) => {
  const refuse = (problem: string) => {
    context.addIssue(problem);
    return z.NEVER;
  };
  try {
    const content = readFileSync(path);
    if (content.length > largest) return refuse("must be at most 100 KiB");
    if (isPng(content)) return { type: "image/png", content };
    return isSvg(content) ? { type: "image/svg+xml", content } : refuse("must be an SVG or PNG file");
  } catch (error) {
    return refuse(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
});
