/** What the front door notes on each request; no client can set these, because it removes what came in. */
export const noted = {
  origin: "latchkey-origin",
  client: "latchkey-client",
  crossSite: "latchkey-cross-site",
  refused: "latchkey-refused",
} as const;

/** Scheme and authority that the browser used, e.g. `https://example.org`. */
export function originOf(request: Request): string {
  return request.headers.get(noted.origin) ?? new URL(request.url).origin;
}

/** The client's address, an IPv6 one cut to its /64, which is what one subscriber has. */
export function clientOf(request: Request): string {
  return request.headers.get(noted.client) ?? "unknown";
}

/** Whether a browser says that another site's page sends this. */
export function isCrossSite(request: Request): boolean {
  return request.headers.has(noted.crossSite);
}

/** The status with which the front door refused the request, before it was sent on to the page that says so. */
export function refusalOf(request: Request): 400 | 405 | null {
  const status = Number(request.headers.get(noted.refused));
  return status === 400 || status === 405 ? status : null;
}
