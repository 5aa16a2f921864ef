import { newPasskeyBrowser } from "#server/features/owner/passkeys.server";
import { DEVICE_LIFETIME_MS, PASSKEY_CHALLENGE_TTL_MS } from "#server/rules";
import { isHttps, readCookie, writeCookie } from "./cookies.server";

type Name = "passkey" | "passkey-offered";

const cookieName = (request: Request, name: Name) => (isHttps(request) ? `__Host-${name}` : name);

const cookie = (request: Request, name: Name, value: string, lifetime: number) => ({
  "Set-Cookie": writeCookie(request, cookieName(request, name), value, { path: "/", maxAge: lifetime / 1000 }),
});

/** What binds a challenge to this browser. */
export const passkeyBrowser = (request: Request) => readCookie(request, cookieName(request, "passkey"));

/** The browser keeps its token while it gets challenges: each of its tabs has one of its own. */
export function withPasskeyBrowser(request: Request) {
  const browser = passkeyBrowser(request) ?? newPasskeyBrowser();
  return { browser, headers: cookie(request, "passkey", browser, PASSKEY_CHALLENGE_TTL_MS) };
}

/** The sign-in after which the account page last offered a passkey in this browser; `null` for none. */
export const lastPasskeyOffer = (request: Request) => readCookie(request, cookieName(request, "passkey-offered"));

export const passkeyOffered = (request: Request, signIn: string) =>
  cookie(request, "passkey-offered", signIn, DEVICE_LIFETIME_MS);
