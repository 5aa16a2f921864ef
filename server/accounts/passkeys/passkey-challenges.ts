import { PasskeyChallenge } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import { mintToken, sha256 } from "../links/tokens";

/** What a challenge is for. It is valid for one purpose, in one browser and for one session. */
export interface Ceremony {
  /** From the browser's cookie; `null` if the browser has no challenge. */
  ceremonyToken: string | null;
  purpose: "sign-in" | `${"add" | "upgrade"}:${string}`;
}

const hashOf = ({ ceremonyToken, purpose }: Ceremony, challenge: string) =>
  sha256(`${purpose}:${ceremonyToken}:${challenge}`);

/** @returns 32 random bytes, of which the database has the hash only */
export async function issueChallenge(ceremony: Ceremony): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = Buffer.from(mintToken(), "hex");
  const challengeHash = hashOf(ceremony, challenge.toString("base64url"));
  const expiresAt = new Date(Date.now() + PASSKEY_CHALLENGE_TTL_MS);
  await query((em) => em.insert(PasskeyChallenge, { challengeHash, expiresAt }));
  return challenge;
}

/** True for exactly one of any number of simultaneous callers. @param challenge in base64url */
export async function consumeChallenge(ceremony: Ceremony, challenge: string): Promise<boolean> {
  if (ceremony.ceremonyToken === null) return false;
  const where = { challengeHash: hashOf(ceremony, challenge), expiresAt: { $gt: new Date() } };
  return (await query((em) => em.nativeDelete(PasskeyChallenge, where))) === 1;
}
