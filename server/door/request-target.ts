import { hasDotSegment } from "../origins/return-to";

/** A request target without dot segments, which could make a page look like a static file. */
export interface Target {
  path: string;
  query: string;
  authority: string | undefined;
}

/** Parses the origin-form, or the absolute-form, whose authority replaces `Host` (RFC 9112, section 3.2). */
export function parseTarget(url: string): Target | null {
  const [, authority, path, query] = /^(?:https?:\/\/([^/?#]*))?(\/[^?#]*)?(\?[^#]*)?(?:#.*)?$/is.exec(url) ?? [];
  if (authority === undefined && path === undefined) return null;
  const parsed = new URL(`http://localhost${path ?? "/"}`);
  return hasDotSegment(parsed) ? null : { authority, path: parsed.pathname, query: query ?? "" };
}

const longestPath = 512;
const longestManifestQuery = 2_048;
const maxSegments = 32;

/** Remix answers here before any route, whatever the method. */
export const manifestPath = "/__manifest";

export function isReadable({ path, query }: Target): boolean {
  const parameters = new URLSearchParams(query);
  if (parameters.has("_data")) return false; // Remix's data requests before single fetch: each logs an error
  if (path === manifestPath) return query.length <= longestManifestQuery && parameters.getAll("p").every(isPagePath);
  return isShort(path) && isDecodable(path) && !hasBackslash(path);
}

/** Remix logs other values unchanged, line breaks included. */
const isPagePath = (path: string) => /^\/[\w./-]*$/.test(path) && isShort(path);

/** Remix 2.17.5 matches each part of a path anew, which takes seconds for thousands of parts (CVE-2026-55685). */
const isShort = (path: string) => path.length <= longestPath && path.split("/").length <= maxSegments + 1;

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** React Router 6.30.6 throws for a path such as `/%5C`: it decodes it, and reads the backslash as a slash. */
const hasBackslash = (path: string) => /%5c/i.test(path);
