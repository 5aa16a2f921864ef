import { isLoopback } from "./formats";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (RFC 8314, section 3.3); otherwise STARTTLS. */
  readonly implicitTls: boolean;
  readonly loopback: boolean;
  /** `null`: no login, on a loopback address only. */
  readonly login: { readonly user: string; readonly pass: string } | null;
}

function parseLogin({ username, password }: URL): SmtpServer["login"] {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return null;
  }
}

/** A raw `@` or `#` may name another host. A query is ignored. `null` also without a login, except on loopback. */
export function parseSmtpUrl(text: string): SmtpServer | null {
  if (!/^smtps?:[^@#]*(?:@[^@#]*)?$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.hostname === "" || !/^\/?$/.test(url.pathname)) return null;
  const host = url.hostname.replace(/^\[(.+)\]$/, "$1").toLowerCase();
  const [implicitTls, loopback, login] = [url.protocol === "smtps:", isLoopback(host), parseLogin(url)];
  if (!login || !login.user !== !login.pass || (!login.user && !loopback)) return null;
  const port = Number(url.port) || (implicitTls ? 465 : 587);
  return { host, port, implicitTls, loopback, login: login.user ? login : null };
}
