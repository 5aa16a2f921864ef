import type { Language } from "./languages/languages";

/** Who asks: what a request shows of its sender. */
export interface Visitor {
  /** What limits count: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */
  network: string;
  language: Language;
  userAgent: string | null;
  /** Of the session cookies: several where a sibling host has planted one. */
  sessionTokens: string[];
  /** Of a browser that has signed in before; `null` for another one. */
  deviceToken: string | null;
  /** Binds a passkey's challenge to the browser; `null` for one that has asked for none. */
  ceremonyToken: string | null;
  /** Aborted when the client waits no longer. */
  gone(): AbortSignal;
}
