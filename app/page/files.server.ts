import { findFile } from "#server/features/files.server";

/**
 * The answer to a request for a file of the brand or of the texts; `null` for another path. An SVG may have scripts and
 * links to other sites: opened as a page of its own, it can run and load nothing.
 */
export function fileAnswer(request: Request): Response | null {
  const file = findFile(new URL(request.url).pathname);
  if (!file) return null;
  return new Response(new Uint8Array(file.content), {
    headers: {
      "Content-Type": file.type,
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "Cache-Control": "public, max-age=31536000, immutable",
    },
  });
}
