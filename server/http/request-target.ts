/** A request target without dot segments, which could make a page look like a static file. */
export interface Target {
  path: string;
  query: string;
  authority: string | undefined;
}

/**
 * Parses the origin-form, or the absolute-form, whose authority replaces `Host` (RFC 9112, section 3.2).
 *
 * @returns `null` for every other spelling
 */
export function parseTarget(url: string): Target | null {
  const [, authority, path, query] = /^(?:https?:\/\/([^/?#]*))?(\/[^?#]*)?(\?[^#]*)?(?:#.*)?$/is.exec(url) ?? [];
  if (authority === undefined && path === undefined) return null;
  return { authority, path: new URL(`http://localhost${path ?? "/"}`).pathname, query: query ?? "" };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Queries that no page sends. Remix writes them into the log as they came, line breaks included. */
function breaksLog(path: string, query: URLSearchParams): boolean {
  if (query.has("_data")) return true; // Remix's data requests before single fetch: each logs an error
  return path === manifestPath && query.getAll("p").some((page) => !/^\/[\w./-]*$/.test(page));
}

const mostSegments = 32; // of a path
const mostManifestPaths = 256; // that Remix matches for one request of the manifest

const segmentsOf = (path: string) => path.split("/").slice(1);

/** A page's path and every path above it. */
function pathsTo(page: string): string[] {
  const segments = segmentsOf(page);
  return segments.map((_, at) => segments.slice(0, at + 1).join("/"));
}

/** Remix matches every part of a path, and for the manifest each distinct path above a page: 7,000 segments took it 4 s. */
function takesTooLongToMatch(path: string, query: URLSearchParams): boolean {
  const pages = path === manifestPath ? query.getAll("p") : [];
  if ([path, ...pages].some((each) => segmentsOf(each).length > mostSegments)) return true;
  return new Set(pages.flatMap(pathsTo)).size > mostManifestPaths;
}

/** Whether Remix can take a target to a route. */
export function isReadable(target: Target | null): target is Target {
  if (target === null) return false;
  const { path } = target;
  const query = new URLSearchParams(target.query);
  return !takesTooLongToMatch(path, query) && isDecodable(path) && !breaksLog(path, query);
}

/** Remix answers here before any route, whatever the method. */
export const manifestPath = "/__manifest";
