import { createHash } from "node:crypto";
import { CallError, callText } from "../../calls/json-client";
import { config } from "../../config";
import { logEvent } from "../../log";

const deadline = 2_000; // ms

/**
 * Whether Have I Been Pwned has the password, by the first five hex digits of its SHA-1. Padding hides the requested
 * range from an observer of the answer's size; its lines have the count 0. Allows a password that cannot be looked up.
 * https://haveibeenpwned.com/API/v3#PwnedPasswords
 */
export async function isBreached(password: string): Promise<boolean> {
  const { breachesUrl } = config().passwords;
  if (breachesUrl === null) return false;
  const hash = createHash("sha1").update(password).digest("hex").toUpperCase();
  try {
    const headers = { accept: "text/plain", "add-padding": "true" };
    const range = await callText(`${breachesUrl}/range/${hash.slice(0, 5)}`, { method: "GET", headers, deadline });
    if (!/^[\dA-F]{35}:\d/im.test(range)) throw new CallError("unexpected"); // e.g. the page of a captive portal
    const line = range.split(/\r?\n/).find((line) => line.toUpperCase().startsWith(`${hash.slice(5)}:`));
    return line !== undefined && Number(line.split(":")[1]) > 0;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    logEvent({ event: "password.not_looked_up", reason: error.reason });
    return false;
  }
}
