import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";
import { strictTransportMaxAge } from "../rules";

/** For an answer that is not a page, in case a browser shows it as one. */
const emptyContentPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const helmetFor = (https: boolean) =>
  helmet({
    contentSecurityPolicy: false, // a page has its own, with a nonce: app/entry.server.tsx
    referrerPolicy: { policy: "same-origin" },
    strictTransportSecurity: https && { maxAge: strictTransportMaxAge },
    xFrameOptions: { action: "deny" },
    // These four only concern old browsers and plug-ins.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });

const securityHeaders = { http: helmetFor(false), https: helmetFor(true) };

/** Sets the security headers, and the defaults that a route may replace before the head is written. */
export function setSecurityHeaders(request: IncomingMessage, response: ServerResponse, https: boolean): void {
  securityHeaders[https ? "https" : "http"](request, response, () => {});
  const writeHead = response.writeHead;
  response.writeHead = function (this: ServerResponse, ...head: unknown[]) {
    if (!this.hasHeader("Cache-Control")) this.setHeader("Cache-Control", "no-store");
    // For a route without an action, Remix sends a 405 without `Allow`.
    if (this.statusCode === 405 && !this.hasHeader("Allow")) this.setHeader("Allow", "GET, HEAD");
    // Browsers do not revalidate an immutable file. Without these headers, a first load stays under 100 KiB of scripts.
    const isImmutable = String(this.getHeader("Cache-Control")).includes("immutable");
    if (isImmutable) for (const name of ["ETag", "Last-Modified"]) this.removeHeader(name);
    if (!this.hasHeader("Content-Security-Policy")) this.setHeader("Content-Security-Policy", emptyContentPolicy);
    return Reflect.apply(writeHead, this, head);
  };
}
