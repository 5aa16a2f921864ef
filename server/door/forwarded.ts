import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";
import type { Config } from "../config";
import type { RequestFacts } from "../process/context";
import type { Network } from "../settings/formats";

/** Scheme and authority that the browser used; those of `APP_URL` if `Host` is malformed. */
export function connectionUrl(request: IncomingMessage, authority: string | undefined, config: Config): URL {
  const host = forwardedValue(request, "x-forwarded-host", config.trustedProxies) ?? authority ?? request.headers.host;
  return new URL(isAuthority(host) ? `${isEncrypted(request, config) ? "https" : "http"}://${host}` : config.appUrl);
}

/** The origin that a trusted proxy says the client asked for; `null` if none names a well-formed one. */
export function namedOrigin(request: IncomingMessage, config: Config): string | null {
  const host = forwardedValue(request, "x-forwarded-host", config.trustedProxies);
  return isAuthority(host) ? new URL(`${isEncrypted(request, config) ? "https" : "http"}://${host}`).origin : null;
}

/** At most a name of 253 characters (RFC 1035) and a port: a longer one could make a token of 16 kB, kept in memory. */
const isAuthority = (host = "") => /^[\w.\-:[\]]{1,259}$/.test(host) && URL.canParse(`http://${host}`);

export function isEncrypted(request: IncomingMessage, config: Config): boolean {
  const forwarded = forwardedValue(request, "x-forwarded-proto", config.trustedProxies);
  if (forwarded === undefined) return (request.socket as Partial<TLSSocket>).encrypted === true;
  return /^(?:https|wss)$/i.test(forwarded); // Traefik says wss of a connection to be upgraded
}

/** Who sent the request: the client that a trusted proxy names, else that of the connection. */
export function clientOf(
  request: IncomingMessage,
  { trustedProxies }: Config,
): Pick<RequestFacts, "client" | "clientForwarded"> {
  const named = addressOf(forwardedValue(request, "x-forwarded-for", trustedProxies) ?? "");
  if (isIP(named)) return { client: subscriberOf(named), clientForwarded: true };
  const own = withoutZone(request.socket.remoteAddress ?? "");
  return { client: isIP(own) ? subscriberOf(own) : "unknown", clientForwarded: false };
}

/** The value of the outermost trusted proxy: each proxy appends one. If there are fewer values, the first. */
function forwardedValue(request: IncomingMessage, name: string, proxies: Config["trustedProxies"]): string | undefined {
  let left = hopsOf(request, proxies);
  let outermost: string | undefined;
  for (const value of left > 0 ? forwardedValues(request, name) : []) {
    outermost = value;
    if (--left === 0) break;
  }
  return outermost;
}

const counted = new WeakMap<IncomingMessage, number>(); // a request asks for each header

/** How many trusted proxies the request came through. With 0, its forwarded headers do not count. */
export function hopsOf(request: IncomingMessage, proxies: Config["trustedProxies"]): number {
  if (typeof proxies === "number") return proxies;
  const hops = counted.get(request) ?? trustedHops(request, proxies);
  counted.set(request, hops);
  return hops;
}

/** How many trusted proxies have appended a value, from the peer back to the first address outside the networks. */
function trustedHops(request: IncomingMessage, networks: Network[]): number {
  if (!isIn(networks, request.socket.remoteAddress)) return 0;
  let hops = 0;
  for (const value of forwardedValues(request, "x-forwarded-for")) {
    const address = addressOf(value);
    if (!isIP(address)) break;
    hops += 1;
    if (!isIn(networks, address)) break;
  }
  return Math.max(hops, 1);
}

function isIn(networks: Network[], address = ""): boolean {
  if (!isIP(withoutZone(address))) return false;
  const parsed = ipaddr.process(withoutZone(address)); // an IPv4 address that is mapped to IPv6 becomes IPv4
  return ipaddr.subnetMatch(parsed, { networks }, "none") === "networks";
}

/** From the right, and no further than asked: a client can send thousands of values. */
function* forwardedValues({ headers }: IncomingMessage, name: string): Generator<string> {
  let rest = headers[name]?.toString();
  while (rest !== undefined) {
    const comma = rest.lastIndexOf(",");
    yield rest.slice(comma + 1).trim();
    rest = comma === -1 ? undefined : rest.slice(0, comma);
  }
}

const addressOf = (value: string) => withoutZone(withoutPort(value));

/** RFC 4007, section 11: `fe80::1%eth0`. */
const withoutZone = (address: string) => address.replace(/%.*$/, "");

/** Some proxies add the client's port: `203.0.113.5:5555`, `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1");
}

/** For an IPv6 address, its /64, which one subscriber has. */
function subscriberOf(address: string): string {
  if (isIPv4(address)) return address;
  const parsed = ipaddr.process(address); // an IPv4 address that is mapped to IPv6 becomes IPv4
  if (parsed.kind() === "ipv4") return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}

/** By Origin and Fetch Metadata, which a page cannot forge. Another host of the same site counts as another site. */
export function comesFromAnotherSite({ headers }: IncomingMessage, ownOrigin: string): boolean {
  const site = headers["sec-fetch-site"] ?? "none";
  if (headers.origin === undefined) return site !== "none" && site !== "same-origin";
  return !URL.canParse(headers.origin) || new URL(headers.origin).origin !== ownOrigin;
}
