import InAppSpy from "inapp-spy";
import { config } from "../../config";
import { entryOf } from "../../provider/providers";

/** The way out of an app's browser in which the provider signs nobody in. */
export interface InAppBrowser {
  /** The app's name; `null` if it is not known. */
  app: string | null;
  /** The page's address, for another browser. */
  address: string;
  /** Opens the address in the browser of Android; `null` on other systems. */
  openUrl: string | null;
}

/** Google's own app may sign in. */
const signsIn = [{ appKey: "gsa" as const }];

/** @param address of the page, with its query. @returns `null` where the provider signs in */
export function inAppBrowser(userAgent: string | null, address: string): InAppBrowser | null {
  const { identityProvider } = config();
  if (!userAgent || !identityProvider || !entryOf(identityProvider).refusesInAppBrowsers) return null;
  const { isInApp, appKey, appName } = InAppSpy({ ua: userAgent, skip: signsIn });
  if (!isInApp) return null;
  // inapp-spy 5.0.10 takes the Facebook app for Messenger where the user agent has no IABMV.
  const isFacebook = appKey === "messenger" && /\bFB(?:IOS|4A)\b/.test(userAgent);
  const [scheme, rest] = address.split(/:(.*)/s);
  // https://developer.chrome.com/docs/android/intents
  const openUrl = /Android/i.test(userAgent) ? `intent:${rest}#Intent;scheme=${scheme};end` : null;
  return { app: isFacebook ? "Facebook" : (appName ?? null), address, openUrl };
}
