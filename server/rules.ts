/** How long a mailed link can be used, in ms. The name, too, was asked for: docs/requirements.md. */
export const RESET_TOKEN_TTL_MS = 3_600_000;

export const linkMinutes = RESET_TOKEN_TTL_MS / 60_000;

/** Mails with a link of one kind, to one address in a quarter of an hour. */
export const mailsPerQuarterHour = 5;

/** How long an operator can retry what was given up, and a webhook can wait. Other jobs go at their end. */
export const givenUpDays = 14;

/** How many jobs of a queue a process runs at a time: each may need a connection to the mail service. */
export const concurrentJobs = 20;

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

/** `Retry-After` of a 503, in seconds. */
export const unavailableRetryAfter = "5";

/** The maximum of a password, in Unicode code points. NIST SP 800-63B, section 3.1.1.2. */
export const longestPassword = 256;

/** The maximum of a person's name, in Unicode code points. */
export const longestName = 100;

/** Whether a group can have this name. */
export const isGroup = (text: string): boolean => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text);

/** The maximum of an access token's name, in Unicode code points. */
export const longestTokenName = 64;

export const mailtoUrl = (address: string) => `mailto:${encodeURIComponent(address).replace("%40", "@")}`;

// A line break or a change of the text's direction could disguise a page. The joiners of Arabic and emoji may occur.
const disguises = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** The name, trimmed and in NFC, whoever gives it; `null` if empty, too long or not one line of plain text. */
export function parseName(typed: string, longest = longestName): string | null {
  const name = typed.normalize("NFC").trim();
  return name === "" || disguises.test(name) || [...name].length > longest ? null : name;
}

/** How long a session counts after the last proof that it is on its device, in ms. */
export const boundCookieLifetime = 600_000;

/** Sessions of a user. */
export const maxSessions = 50;

/** Passkeys of a user. */
export const maxPasskeys = 20;

/** Live access tokens of a user. */
export const maxAccessTokens = 20;

const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
const policyStart = "default-src 'self'; script-src 'self'";
const policyEnd = `style-src 'self'; img-src 'self' https: data:; connect-src 'self'${liveReload}; object-src 'none'; base-uri 'none'`;

/** @param formTargets other allowed origins: `form-action` also applies to the redirects after a form */
export const contentSecurityPolicy = (nonce: string, formTargets: Iterable<string> = []) =>
  `${policyStart} 'nonce-${nonce}'; ${policyEnd}; form-action ${["'self'", ...formTargets].join(" ")}; frame-ancestors 'none'`;

/** Of HSTS, in seconds. */
export const strictTransportMaxAge = 63_072_000;
