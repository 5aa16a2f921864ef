import type { Language } from "../languages/languages";

/** Who asks: what a request shows of its sender. */
export interface Visitor {
  /** What limits count: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */
  network: string;
  language: Language;
  userAgent: string | null;
  /** From the session cookies. There are several if a sibling host has planted one. */
  sessionTokens: string[];
  /** From the device cookie; `null` if this browser has never signed in. */
  deviceToken: string | null;
  /** Binds a passkey's challenge to the browser; `null` if the browser has not asked for one. */
  ceremonyToken: string | null;
  arrivedAt: Date;
  /** Aborted when the client waits no longer. */
  gone(): AbortSignal;
}
