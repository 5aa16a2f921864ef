import Bowser from "bowser";

/** A `User-Agent` as people know it, e.g. `Firefox on Linux`. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return "An unknown browser";
  const { browser, os } = Bowser.parse(userAgent);
  return `${browser.name ?? "An unknown browser"}${os.name ? ` on ${os.name}` : ""}`;
}
