/** A header by which a route names the origin that a form of its page is redirected to. It is not sent. */
export const formTargetHeader = "Latchkey-Form-Target";

/** @param formTarget an origin besides our own: `form-action` also applies to the redirects after a form */
export function contentSecurityPolicy(nonce: string, formTarget: string | null): string {
  const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' https: data:",
    `connect-src 'self'${liveReload}`,
    "object-src 'none'",
    "base-uri 'none'",
    `form-action 'self'${formTarget === null ? "" : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
  ].join("; ");
}
