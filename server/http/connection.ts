import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";
import type { Config } from "../config";

/** The last value is the one that the trusted proxy added. */
function lastValue(header: string | string[] | undefined): string | undefined {
  return header?.toString().split(",").at(-1)?.trim();
}

function parseAuthority(scheme: string, host: string | undefined): URL | null {
  if (!host || !/^[\w.\-:[\]]+$/.test(host) || !URL.canParse(`${scheme}://${host}`)) return null;
  return new URL(`${scheme}://${host}`);
}

/**
 * Scheme and authority that the browser used; those of `APP_URL` where `Host` is malformed.
 *
 * @param authority of an absolute-form request target
 */
export function connectionUrl(request: IncomingMessage, authority: string | undefined, config: Config): URL {
  const forwarded = (name: string) => (config.trustProxy ? lastValue(request.headers[name]) : undefined);
  const encrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
  const scheme = forwarded("x-forwarded-proto") ?? (encrypted ? "https" : "http");
  const host = forwarded("x-forwarded-host") ?? authority ?? request.headers.host;
  return parseAuthority(scheme === "https" ? "https" : "http", host) ?? new URL(config.appUrl);
}

/** The client's address; of an IPv6 address the /64, which one subscriber has. */
export function clientAddress(request: IncomingMessage, config: Config): string {
  const forwarded = config.trustProxy ? lastValue(request.headers["x-forwarded-for"]) : undefined;
  const text = forwarded && ipaddr.isValid(forwarded) ? forwarded : (request.socket.remoteAddress ?? "");
  if (!ipaddr.isValid(text)) return "unknown";
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString();
}

/** Fetch Standard, "`Origin` header", and Fetch Metadata: browsers send them, and a page cannot forge them. */
export function comesFromAnotherSite({ headers }: IncomingMessage, ownOrigin: string): boolean {
  if (headers.origin === undefined) return headers["sec-fetch-site"] === "cross-site";
  return !URL.canParse(headers.origin) || new URL(headers.origin).origin !== ownOrigin;
}
