/** @param maxAge how old the sign-in may be, in seconds */
export function withReturnTo(path: string, returnTo: string | null | undefined, maxAge: number | null = null): string {
  const query = new URLSearchParams();
  if (returnTo) query.set("return_to", returnTo);
  if (maxAge !== null) query.set("max_age", String(maxAge));
  return query.size > 0 ? `${path}${path.includes("?") ? "&" : "?"}${query}` : path;
}
