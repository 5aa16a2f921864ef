let clients = 0;

/** Another address each time, so that no client meets the limits of another. */
export function newClientAddress(): string {
  const n = ++clients;
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}
