import { brandFile } from "#server/features/branding.server";

/**
 * The answer to a request for the logo or the stylesheet of the brand; `null` for another path. An SVG may have scripts
 * and links to other sites: opened as a page of its own, it can run and load nothing.
 */
export function brandAnswer(request: Request): Response | null {
  const [, name = ""] = /^\/brand\/([^/]+)$/.exec(new URL(request.url).pathname) ?? [];
  const file = brandFile(name);
  if (!file) return null;
  return new Response(new Uint8Array(file.content), {
    headers: {
      "Content-Type": file.type,
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "Cache-Control": "public, max-age=31536000, immutable",
    },
  });
}
