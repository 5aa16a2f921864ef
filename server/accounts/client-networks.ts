import ipaddr from "ipaddr.js";

/** A network that a client's address belongs to, and how many times the limit of a single client it has. */
export interface Network {
  network: string;
  factor: number;
}

/**
 * The networks of a client, the largest first: a provider hands out whole /48s of IPv6 addresses.
 *
 * @param client an IPv4 address, or the network of an IPv6 address's /64
 */
export function networksOf(client: string): Network[] {
  const own = { network: client, factor: 1 };
  if (!ipaddr.IPv6.isValid(client)) return [own];
  return [{ network: `${ipaddr.IPv6.networkAddressFromCIDR(`${client}/48`)}/48`, factor: 4 }, own];
}
