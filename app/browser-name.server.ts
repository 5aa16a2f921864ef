import Bowser from "bowser";

/** The name of a `User-Agent` for people, e.g. `Firefox on Linux`. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return "An unknown browser";
  const { browser, os } = Bowser.parse(userAgent);
  return `${browser.name ?? "An unknown browser"}${os.name ? ` on ${os.name}` : ""}`;
}
