let clients = 0;

/** A new address for each call, so that tests do not share the limits of a client. */
export function newClientAddress(): string {
  const n = ++clients;
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}
