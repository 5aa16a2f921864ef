import type { EntityManager } from "@mikro-orm/postgresql";
import { isToken, mintToken, sha256 } from "../../crypto/tokens";
import { Device } from "../../database/entities";
import { prepared, preparedWithin } from "../../database/prepared";
import { query } from "../../database/unit-of-work";
import { DEVICE_LIFETIME_MS } from "../../rules";

// OWASP, "Slow Down Online Guessing Attacks with Device Cookies": a browser that has signed in to an account has a
// limit of its own, so that nobody else's attempts lock it out.

const maxDevices = 20; // of a user

/** MikroORM's condition for devices that have been unused for the lifetime of a device's cookie. */
export const unusedDevices = (now: Date) => ({ lastSeenAt: { $lte: new Date(now.getTime() - DEVICE_LIFETIME_MS) } });

// For an unknown token, this statement ends before it looks up the address.
const deviceOfAddress = `
  select token_hash as "tokenHash" from devices
  where token_hash = ? and user_id = (select id from users where email = ?)`;

/** The SHA-256 of a device's token, when it is one of `email`'s account: one statement for every address and cookie. */
export async function findDevice(token: string | null, email: string | null): Promise<string | null> {
  const tokenHash = token !== null && isToken(token) ? sha256(token) : null;
  const [device] = await prepared<{ tokenHash: string }>("device-of-address", deviceOfAddress, [tokenHash, email]);
  return device?.tokenHash ?? null;
}

/** The SHA-256 of a device's token, for any account. */
export async function findAnyDevice(token: string | null): Promise<string | null> {
  const tokenHash = token !== null && isToken(token) ? sha256(token) : null;
  return tokenHash !== null && (await query((em) => em.count(Device, { tokenHash }))) > 0 ? tokenHash : null;
}

// A locked row is in use, or another sign-in removes it: waiting for it could deadlock when two users sign in in each
// other's browsers.
const removeSurplus = `
  delete from devices where token_hash = any(array(
    select token_hash from devices where user_id = ? and token_hash <> ? order by last_seen_at, created_at, token_hash
    limit (select greatest(count(*) - ${maxDevices}, 0) from devices where user_id = ?)
    for update skip locked))`; // as an array: see startOne

/** Remembers the browser of a sign-in: it keeps its device, or gets one. The caller holds the user's row. */
export async function rememberDevice(em: EntityManager, userId: string, token: string | null) {
  const now = new Date();
  if (token !== null && isToken(token)) {
    const known = await em.nativeUpdate(Device, { tokenHash: sha256(token), user: userId }, { lastSeenAt: now });
    if (known > 0) return { token, isKnown: true };
  }
  const newToken = mintToken();
  const tokenHash = sha256(newToken);
  await em.insert(Device, { tokenHash, user: userId, createdAt: now, lastSeenAt: now });
  await preparedWithin(em, "remove-surplus-devices", removeSurplus, [userId, tokenHash, userId]);
  return { token: newToken, isKnown: false };
}
