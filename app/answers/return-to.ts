export const returnToName = "return_to";

export function withReturnTo(path: string, returnTo: string | null | undefined): string {
  if (!returnTo) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ [returnToName]: returnTo })}`;
}
