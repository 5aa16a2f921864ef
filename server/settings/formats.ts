import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { plainHost } from "../origins/return-to";

const matching = (pattern: RegExp, problem: string) => z.string().regex(pattern, problem);

export const text = matching(/\S/, "must not be blank");
export const key = matching(/^[!-~]+$/, "must be printable ASCII without spaces");
export const email = matching(/^[!#-;=?A-~]+@[!#-;=?A-~]+$/, "must be an email address");
export const sender = matching(
  /^(?:[^\r\n]*<[^\s@<>,]+@[^\s@<>,]+>|[^\s@<>,]+@[^\s@<>,]+)$/,
  "must be an address, or a name and an <address>",
);
export const color = matching(/^#[0-9a-f]{6}$/i, "must be a colour as #rrggbb").toLowerCase();

/** Reports the problem that `problemOf` finds in a text. */
export const checked = (problemOf: (text: string) => string | null, input = z.string()) =>
  input.superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== null) context.addIssue(problem);
  });

export const list = (parse: (part: string) => string | null, problem: string) =>
  parsed((text) => {
    const parts = text === "" ? [] : text.split(",").map((part) => parse(part.trim()));
    return parts.includes(null) ? null : parts.filter((part) => part !== null);
  }, problem);

/** Parses a text with `parse`. If the result is `null`, reports the problem. */
export const parsed = <Value>(parse: (text: string) => Value | null, problem: string, input = z.string()) =>
  input.transform((text, context) => {
    const value = parse(text);
    if (value === null) context.addIssue(problem);
    return value ?? z.NEVER;
  });

/** In Markdown. */
export const names = (all: readonly string[]) => either(all.map((name) => `\`${name}\``));

export const oneOf = <const Name extends string>(...names: Name[]) => z.enum(names, `must be ${either(names)}`);

export const either = (all: readonly string[]) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(all);

export const flag = oneOf("true", "false").transform((value) => value === "true");
export const onOff = oneOf("on", "off").transform((value) => value === "on");

export const encryptionKey = matching(
  /^[A-Za-z\d+/]{43}=$/,
  "must be 32 bytes in base64, e.g. made by `openssl rand -base64 32`",
).transform((text): Uint8Array => Buffer.from(text, "base64"));

/** No line breaks, and no characters that turn the direction of the text around them. */
export const displayName = (max: number) =>
  z
    .string()
    .trim()
    .regex(
      new RegExp(`^[^\\p{Cc}\\p{Zl}\\p{Zp}<>\\u202a-\\u202e\\u2066-\\u2069]{1,${max}}$`, "u"),
      `must be 1 to ${max} printable characters without < and >`,
    );

export const processes = matching(/^(?:auto|[1-9]\d?)$/, "must be auto, or a number from 1 to 99").transform((value) =>
  value === "auto" ? availableParallelism() : Number(value),
);

const wholeNumber = (min: number, max: number, problem: string) =>
  z
    .string()
    .refine((text) => /^[1-9]\d*$/.test(text) && Number(text) >= min && Number(text) <= max, problem)
    .transform(Number);

export const proxies = parsed(
  parseProxies,
  "must be true, false or the number of proxies, at most 9, or their addresses and networks, without host bits or /0, e.g. 127.0.0.1, 10.0.0.0/8",
);

/** A network of peers whose forwarded headers count. */
export type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

function parseProxies(text: string): number | Network[] | null {
  if (/^(?:true|false|\d)$/.test(text)) return text === "true" ? 1 : Number(text) || 0;
  const networks = text.split(",").map((part) => parseNetwork(part.trim()));
  return networks.includes(null) ? null : networks.filter((network) => network !== null);
}

export const hours = wholeNumber(1, 8_760, "must be a number of hours from 1 to 8760"); // a year
export const tokenDays = wholeNumber(1, 365, "must be a number of days from 1 to 365");
export const minimumLength = wholeNumber(8, 64, "must be a number from 8 to 64");
export const port = wholeNumber(1, 65_535, "must be a port number");

/** An address is a network of its own. `null` also for one with host bits, such as 10.0.0.1/8, and for everybody. */
function parseNetwork(text: string): Network | null {
  const [, address = "", prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (isIP(address) === 0) return null;
  const parsed = prefix === undefined ? ipaddr.process(address) : ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return null; // peers are compared as IPv4
  const bits = parsed.toByteArray().length * 8;
  const network: Network = [parsed, Number(prefix ?? bits)];
  if (network[1] > bits || network[1] === 0) return null;
  const kind = parsed.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = prefix === undefined ? parsed : kind.networkAddressFromCIDR(`${address}/${prefix}`);
  return first.toString() === parsed.toString() ? network : null;
}

const isHost = (text: string) => URL.canParse(`http://${urlHost(text)}`) && (isIP(text) > 0 || /^[\w.-]+$/.test(text));

/** A host as it stands in a URL: an IPv6 address in brackets. */
export const urlHost = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);

export const webUrl = z.string().refine(parseWebUrl, "must be an http or https URL, without credentials");

/** OpenID Connect Discovery 1.0, section 3. */
const isIssuer = (text: string) => parseWebUrl(text) !== null && !/[?#]/.test(text);

export const notHttps = "must be an https URL, or an http one of a loopback address, without credentials";

export const httpsUrl = parsed(parseHttpsUrl, notHttps);

function parseHttpsUrl(text: string): string | null {
  const url = parseWebUrl(text);
  return url && isConfidential(url) ? url.href : null;
}

/** Whether nobody on the network between can read what is sent to this URL. */
export const isConfidential = ({ protocol, hostname }: URL) => protocol === "https:" || isLoopback(hostname);

export const issuer = z
  .string()
  .refine(isIssuer, "must be an http or https URL, without credentials, query or fragment");

/** One message for every fault: the URL holds the password. */
export const smtpUrl = parsed(
  parseSmtpUrl,
  "must be smtps://user:password@host:465 or smtp://user:password@host:587, in user and password %40 for @",
);

/** A raw `@` or `#` may name another host. A query is ignored. `null` also without a login, except on loopback. */
function parseSmtpUrl(text: string) {
  if (!/^smtps?:[^@#]*(?:@[^@#]*)?$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.hostname === "" || !/^\/?$/.test(url.pathname)) return null;
  const host = url.hostname.replace(/^\[(.+)\]$/, "$1").toLowerCase();
  const implicitTls = url.protocol === "smtps:"; // from the first byte (RFC 8314, section 3.3); otherwise STARTTLS
  const [loopback, login] = [isLoopback(host), parseLogin(url)];
  if (!login || !login.user !== !login.pass || (!login.user && !loopback)) return null;
  const port = Number(url.port) || (implicitTls ? 465 : 587);
  return { host, port, implicitTls, loopback, login: login.user ? login : null };
}

export const isLoopback = (host: string) =>
  ["localhost", "::1", "[::1]"].includes(host) || (isIP(host) === 4 && host.startsWith("127."));

export const host = z.string().refine(isHost, "must be an address or a host name");

function parseLogin({ username, password }: URL): { user: string; pass: string } | null {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return null;
  }
}

export const origin = parsed(
  parseOrigin,
  "must be an origin such as https://login.example.com: no path, query or credentials",
);

export function parseReturnOrigin(text: string): string | null {
  const origin = parseOrigin(text);
  return origin !== null && plainHost.test(new URL(origin).hostname.replace(/^\*\./, "")) ? origin : null;
}

/** The origin in the spelling of the URL Standard; `null` when the text has more than an origin, or is none. */
function parseOrigin(text: string): string | null {
  const url = parseWebUrl(text);
  return url?.href === `${url?.origin}/` ? url.origin : null;
}

/** `fetch` refuses a URL with credentials. */
function parseWebUrl(text: string): URL | null {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : null;
}

const domain = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

export const parseDomain = (text: string) => (domain.test(text.toLowerCase()) ? text.toLowerCase() : null);
