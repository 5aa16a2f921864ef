import type { activeSessions } from "#server/features/owner/own-sessions";
import { type passkeysByUse, signalledAccount } from "#server/features/owner/passkeys";
import type { Owner } from "#server/features/owner/signed-in";
import type { Language } from "#server/languages/languages";
import { momentIn, oncePerLanguage } from "#server/languages/translate";
import { maxPasskeys } from "#server/rules";
import { browserName } from "#server/visitor/browsers";
import { deviceCookie, lastWay, passkeyOfferedCookie } from "~/visitor/cookies";
import { mustSignInAgain } from "~/visitor/session";

type Passkeys = Awaited<ReturnType<typeof passkeysByUse>>;

const seconds = { day: 86_400, hour: 3_600, minute: 60 } as const;
const units = ["day", "hour", "minute"] as const;

/** This browser's session comes first, then the others, the latest first. */
export const shownSessions = (owner: Owner, sessions: Awaited<ReturnType<typeof activeSessions>>) =>
  sessions
    .map(({ id, userAgent, createdAt, lastSeenAt, isBound: bound }) => ({
      id,
      browser: browserName(userAgent, owner.language),
      since: shownMoment(owner, createdAt),
      lastSeen: shownMoment(owner, id === owner.sessionId ? new Date() : lastSeenAt),
      current: id === owner.sessionId,
      bound,
    }))
    .sort((one, other) => Number(other.current) - Number(one.current));

/** `newName`: the proposed name of this browser's passkey; `null` if the account has the maximum number. */
export const shownPasskeys = (owner: Owner, { usable, unusable }: Passkeys) => ({
  items: usable.map((passkey) => shownPasskey(owner, passkey)),
  unusable: unusable.map((passkey) => ({ ...shownPasskey(owner, passkey), madeFor: passkey.rpId ?? "" })),
  newName: usable.length < maxPasskeys ? browserName(owner.userAgent, owner.language) : null,
  account: signalledAccount(owner.user.id),
});

const shownPasskey = (owner: Owner, passkey: Passkeys["usable"][number]) => ({
  id: passkey.credentialId,
  name: passkey.name,
  added: shownMoment(owner, passkey.createdAt),
  lastUsed: passkey.lastUsedAt ? shownMoment(owner, passkey.lastUsedAt) : null,
  questioned: passkey.questionedAt != null,
});

/** In ISO 8601, and in the page's language as an age and as the exact time in UTC. */
export const shownMoment = ({ language }: Owner, at: Date) => ({
  at: at.toISOString(),
  ago: agoIn(language, at),
  exact: momentIn(language, at),
});

/** How long ago it was, rounded down: "now" within the first minute. @param now in ms */
export function agoIn(language: Language, at: Date, now = Date.now()): string {
  const age = (now - at.getTime()) / 1000;
  const unit = units.find((unit) => age >= seconds[unit]);
  return unit ? relativeFormat(language).format(-Math.floor(age / seconds[unit]), unit) : nowIn(language);
}

const relativeFormat = oncePerLanguage((locale) => new Intl.RelativeTimeFormat(locale));
const nowIn = oncePerLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(0, "second"));

/**
 * `offered`: the page offers a passkey, once in a browser that has signed in with a password. `upgradable`: the browser
 * may create one without a click, once after each sign-in with a password.
 */
export function passkeyOffer(request: Request, owner: Owner, passkeys: Passkeys | null) {
  const signIn = String(owner.signedInAt.getTime());
  const lastOffer = passkeyOfferedCookie.read(request);
  const isFirst = passkeys?.usable.length === 0;
  const offered = isFirst && deviceCookie.read(request) !== null && lastOffer === null;
  const followsPassword =
    passkeys !== null && lastWay(request) === "password" && !mustSignInAgain(owner) && lastOffer !== signIn;
  const headers = new Headers();
  if (offered || followsPassword) headers.set("Set-Cookie", passkeyOfferedCookie.write(request, signIn));
  return { offer: { offered, upgradable: isFirst && followsPassword }, headers };
}
