import { log } from "../../log";
import { isGroup } from "../../rules";

export const maxGroups = 32; // of a user

export const areGroups = (names: string[]): boolean => names.every(isGroup) && sortedGroups(names).length <= maxGroups;

/** The groups of a claim. Keycloak writes a path: its first slash is removed. Logs other names, but no address. */
export function groupsOfClaim(claimed: string[] = []): string[] {
  const lowerCased = claimed.map((text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  const names = sortedGroups(lowerCased.map((text) => text.replace(/^\//, "")));
  const others = names.filter((text) => !isGroup(text)).map((text) => (text.includes("@") ? "…@…" : text.slice(0, 64)));
  if (others.length > 0) {
    log.warn({ groups: others.slice(0, 10), count: others.length }, "The provider's groups have invalid names.");
  }
  return names.filter(isGroup).slice(0, maxGroups);
}

export const sortedGroups = (names: string[]): string[] => [...new Set(names)].sort();
