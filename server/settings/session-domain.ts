import { createRequire } from "node:module";

/** The origin of the site's own host, below whose registrable domain this origin is. */
export function siteOf(origin: string): string {
  const url = new URL(origin);
  url.hostname = publicSuffixes().getDomain(url.hostname, { allowPrivateDomains: true }) ?? url.hostname;
  return url.origin;
}

/** A domain name of at least two labels, the last of which is no number (it would be an IPv4 address). */
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z])[a-z0-9-]{0,62}[a-z0-9]$/;

/** A domain for which, with every host below it, browsers take cookies (RFC 6265bis, section 5.7, step 9). */
export function parseCookieDomain(text: string): string | null {
  const domain = text.toLowerCase();
  return domain.length <= 253 && domainName.test(domain) && !isPublicSuffix(domain) ? domain : null;
}

const isPublicSuffix = (domain: string) =>
  publicSuffixes().getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;

/** Loaded where `SESSION_DOMAIN` is set: the list of public suffixes takes 6 MB and 40 ms. */
const publicSuffixes = () => createRequire(import.meta.url)("tldts") as typeof import("tldts");

export const isWithin = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);
