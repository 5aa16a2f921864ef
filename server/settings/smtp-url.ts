import { isIP } from "node:net";

/** The SMTP server of `SMTP_URL`. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (RFC 8314, section 3.3); otherwise STARTTLS. */
  readonly implicitTls: boolean;
  readonly loopback: boolean;
  /** `null`: no login, on a loopback address only. */
  readonly login: { readonly user: string; readonly pass: string } | null;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Reads `smtps://user:password@host:465` or `smtp://user:password@host:587`, user and password percent-encoded. A query
 * is ignored, so that none can switch TLS off.
 *
 * @returns `null` when the text is no such URL, or a server that is not on a loopback address has no login
 */
export function parseSmtpUrl(text: string): SmtpServer | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const implicitTls = url.protocol === "smtps:";
  if (!implicitTls && url.protocol !== "smtp:") return null;
  if (url.hostname === "" || !/^\/?$/.test(url.pathname)) return null;
  const host = url.hostname.replace(/^\[(.+)\]$/, "$1").toLowerCase();
  const loopback = isLoopback(host);
  const [user, pass] = [decoded(url.username), decoded(url.password)];
  if (user === null || pass === null || (user === "") !== (pass === "")) return null;
  const login = user === "" ? null : { user, pass };
  if (!login && !loopback) return null;
  return { host, port: Number(url.port) || (implicitTls ? 465 : 587), implicitTls, loopback, login };
}
