import * as z from "zod";
import { config } from "../../config";
import { mintToken, sha256 } from "../../crypto/tokens";
import { type Passkey, PasskeyChallenge } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import type { Visitor } from "../../visitor/visitor";
import { countChallenge } from "../limits/rate-limits";
import { rpId } from "./relying-party";

/** What a challenge is for, and of which session or mailed link. It is valid for this alone, in one browser. */
export type CeremonyPurpose = "sign-in" | `${"add" | "upgrade" | "reset" | "register"}:${string}`;

/**
 * Issues 32 random bytes, of which the database has the hash only. The browser's cookie keeps the `ceremonyToken`; each
 * of its tabs has a challenge of its own. @returns `wait` seconds, without a challenge, after too many
 */
export async function issueChallenge(
  visitor: Visitor & { user?: { id: string } },
  purpose: CeremonyPurpose,
): Promise<{ challenge: Uint8Array<ArrayBuffer>; ceremonyToken: string } | { wait: number }> {
  const wait = await countChallenge(visitor);
  if (wait !== null) return { wait };
  const ceremonyToken = visitor.ceremonyToken ?? mintToken();
  const challenge = Buffer.from(mintToken(), "hex");
  const challengeHash = hashOf(purpose, ceremonyToken, challenge.toString("base64url"));
  const expiresAt = new Date(Date.now() + PASSKEY_CHALLENGE_TTL_MS);
  await query((em) => em.insert(PasskeyChallenge, { challengeHash, expiresAt }));
  return { challenge, ceremonyToken };
}

export const base64url = z.string().regex(/^[\w-]+$/);

const credentialId = base64url.max(1_364); // 1,023 bytes: WebAuthn, section 7.1

export const answerWith = <Response extends z.ZodRawShape>(response: Response) =>
  z.object({
    id: credentialId,
    rawId: credentialId,
    type: z.literal("public-key"),
    clientExtensionResults: z.object({}).default({}),
    response: z.object({ clientDataJSON: base64url, ...response }),
  });

const signInAnswer = answerWith({ authenticatorData: base64url, signature: base64url, userHandle: base64url });

export const consumeSignIn = (visitor: Visitor, text: string) => consume(visitor, "sign-in", [signInAnswer, text]);

/** Parses an answer, as JSON, and consumes its challenge: of simultaneous callers, exactly one does. */
export async function consume<Answer extends { response: { clientDataJSON: string } }>(
  { ceremonyToken }: Visitor,
  purpose: CeremonyPurpose,
  [schema, text]: [z.ZodType<Answer>, string],
) {
  const answered = parse(schema, text);
  if (!answered) return { reason: "malformed" } as const;
  const challengeHash = hashOf(purpose, ceremonyToken, answered.challenge);
  const where = { challengeHash, expiresAt: { $gt: new Date() } };
  const consumed = ceremonyToken !== null && (await query((em) => em.nativeDelete(PasskeyChallenge, where)));
  if (consumed !== 1) return { reason: "challenge" } as const;
  // WebAuthn, sections 7.1 and 7.2: no page of Latchkey is in a frame. Safari names no `topOrigin` for the library.
  return answered.crossOrigin ? ({ reason: "not_verified" } as const) : answered;
}

const clientData = z.object({ challenge: base64url, crossOrigin: z.boolean().default(false) });

/** The answer and the challenge that it names; `null` for text that is not an authenticator's answer. */
function parse<Answer extends { response: { clientDataJSON: string } }>(schema: z.ZodType<Answer>, text: string) {
  try {
    const answer = schema.parse(JSON.parse(text));
    return { answer, ...clientData.parse(JSON.parse(bytesOf(answer.response.clientDataJSON).toString())) };
  } catch {
    return null;
  }
}

const hashOf = (purpose: CeremonyPurpose, ceremonyToken: string | null, challenge: string) =>
  sha256(`${purpose}:${ceremonyToken}:${challenge}`);

export type SignInAnswer = Exclude<Awaited<ReturnType<typeof consumeSignIn>>, { reason: string }>;

/** WebAuthn, section 7.2, without the counter; `null` when a step fails. The library then throws an Error. */
export async function verifySignIn({ answer, challenge }: SignInAnswer, { publicKey, user }: Passkey) {
  if (answer.response.userHandle !== Buffer.from(userHandle(user.id)).toString("base64url")) return null;
  const { verifyAuthenticationResponse } = await webAuthn();
  try {
    const credential = { id: answer.id, publicKey: bytesOf(publicKey), counter: 0 };
    const request = { ...expected(challenge), response: answer, credential };
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse(request);
    return verified ? { counter: info.newCounter, backedUp: info.credentialBackedUp } : null;
  } catch {
    return null;
  }
}

/** WebAuthn, section 14.6.1: bytes that say nothing about the person. */
export const userHandle = (userId: string) => new Uint8Array(Buffer.from(userId.replaceAll("-", ""), "hex"));

/** Loaded when somebody uses a passkey: the library's parsers of CBOR and certificates would slow down a start. */
export const webAuthn = () => import("@simplewebauthn/server");

export const bytesOf = (text: string) => Buffer.from(text, "base64url");

export const expected = (challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: config().appUrl,
  expectedRPID: rpId(),
});
