/** How long a mailed link can be used, in ms. */
export const RESET_TOKEN_TTL_MS = 3_600_000;

export const linkLifetimeMinutes = RESET_TOKEN_TTL_MS / 60_000;

/** Mails with a link of one kind, to one address in a quarter of an hour. */
export const mailsPerQuarterHour = 5;

/** How long a device cookie lives from its last use, in ms: 400 days, the most that browsers allow. */
export const DEVICE_LIFETIME_MS = 400 * 24 * 3_600_000;

export const signInWays = ["password", "provider", "passkey"] as const;
export type SignInWay = (typeof signInWays)[number];

/** An older sign-in must be repeated before an action that cannot be undone. */
export const recentSignInMinutes = 15;

/** The age of a sign-in that an application may ask for, in seconds; `null` for any other text. */
export function parseMaxAge(text: string): number | null {
  const seconds = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  return seconds >= 60 && seconds <= 86_400 ? seconds : null;
}

export const isOlderThan = (seconds: number, at: Date) => !(at.getTime() >= Date.now() - seconds * 1000); // or NaN

/** How long the answer to a passkey's challenge is accepted, in ms. */
export const PASSKEY_CHALLENGE_TTL_MS = 300_000;

/** `Retry-After` while the database is not available, in seconds. */
export const outageRetryAfter = "5";

/** The maximum of a password, in Unicode code points. NIST SP 800-63B, section 3.1.1.2. */
export const longestPassword = 256;

/** How long a session counts after the last proof that it is on its device, in ms. */
export const boundCookieLifetime = 600_000;

/** Passkeys of a user. */
export const mostPasskeys = 20;
