/** Where a sign-in may lead, in addition to our own paths. */
export interface ReturnOrigins {
  /** Scheme and authority without a trailing slash: the base of every mailed link. */
  readonly appUrl: string;
  /** Origins, and `https://*.DOMAIN` for every https host below a domain, on the default port. */
  readonly returnOrigins: readonly string[];
}

const longest = 2_048; // characters

/** Not every host that `URL` takes: `;`, `,` and `*` would change a CSP that names it. */
export const plainHost = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/;

/** The serialised own path, or URL of an allowed origin, that a browser may be sent to; `null` for all else. */
export function allowedTarget(text: string, allowed: ReturnOrigins): string | null {
  const serialize = (given: string) =>
    given.length > longest ? null : (ownPath(given, allowed) ?? serializedUrl(given, allowed));
  const target = serialize(text);
  return target !== null && serialize(target) === target ? target : null;
}

/** Browsers read some spellings differently, so redirects use what the URL Standard's parser makes of the path. */
export function ownPath(path: string, { appUrl }: ReturnOrigins): string | null {
  // The parser removes tabs and line breaks: `/<TAB>/example.org` is another host.
  const url = isPath(path) ? parse(path, appUrl) : null;
  if (!url) return null;
  const serialized = `${url.pathname}${url.search}${url.hash}`; // `/..//example.org` is `//example.org` by now
  return serializedOrigin(url) === appUrl && isPath(serialized) ? serialized : null;
}

const isPath = (text: string) => /^\/(?![/\\])/.test(text);

function serializedUrl(text: string, allowed: ReturnOrigins): string | null {
  const url = parse(text);
  return url && isAllowedOrigin(url, allowed) ? url.href : null;
}

/** Not by `URL.canParse`: in Node 20 and 22, it refuses hosts outside ASCII once V8 has optimised it. */
function parse(text: string, base?: string): URL | null {
  try {
    const url = new URL(text, base);
    return hasDotSegment(url) ? null : url;
  } catch {
    return null;
  }
}

/** After a segment such as `.a`, `URL` of Node 20 and 22 keeps dot segments that browsers resolve (ada-url/ada#935). */
export const hasDotSegment = ({ pathname }: URL) => /\/\.\.?(?:\/|$)/.test(pathname);

export function isAllowedOrigin(url: URL, { appUrl, returnOrigins }: ReturnOrigins): boolean {
  if (!plainHost.test(url.hostname) || url.username || url.password) return false;
  return [appUrl, ...returnOrigins].some((origin) => {
    const domain = wildcardDomain(origin);
    return domain === null ? serializedOrigin(url) === origin : isBelow(url, domain);
  });
}

/** The domain of `https://*.DOMAIN`; `null` for another origin. */
export const wildcardDomain = (origin: string): string | null => /^https:\/\/\*\.(.+)$/.exec(origin)?.[1] ?? null;

/** Not `url.origin`, which is https://example.org for `blob:https://example.org/x`. */
const serializedOrigin = ({ protocol, host }: URL) => `${protocol}//${host}`;

function isBelow({ protocol, port, hostname }: URL, domain: string): boolean {
  return protocol === "https:" && port === "" && hostname.endsWith(`.${domain}`);
}
