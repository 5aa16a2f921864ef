import { createPublicKey, type JsonWebKey } from "node:crypto";
import * as z from "zod";
import { config } from "../../config";
import { type Passkey, PasskeyChallenge } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import type { Visitor } from "../../visitor";
import { challengeCounters, count } from "../limits/rate-limits";
import { mintToken, sha256 } from "../links/tokens";
import { findAnyDevice } from "../sessions/devices";

/** Loaded when somebody uses a passkey: the library's parsers of CBOR and certificates would slow down a start. */
export const webAuthn = () => import("@simplewebauthn/server");

/** What a challenge is for, and for an owner the session. The challenge is valid for this alone, in one browser. */
type Purpose = "sign-in" | `${"add" | "upgrade"}:${string}`;

const hashOf = (purpose: Purpose, ceremonyToken: string | null, challenge: string) =>
  sha256(`${purpose}:${ceremonyToken}:${challenge}`);

/**
 * Issues 32 random bytes, of which the database has the hash only. The browser's cookie keeps the `ceremonyToken`; each
 * of its tabs has a challenge of its own. @returns `wait` seconds, without a challenge, after too many
 */
export async function issueChallenge(
  visitor: Visitor,
  purpose: Purpose,
  userId: string | null = null,
): Promise<{ challenge: Uint8Array<ArrayBuffer>; ceremonyToken: string } | { wait: number }> {
  const owner = userId ?? (await findAnyDevice(visitor.deviceToken));
  const wait = await count(challengeCounters(owner, visitor.network));
  if (wait !== null) return { wait };
  const ceremonyToken = visitor.ceremonyToken ?? mintToken();
  const challenge = Buffer.from(mintToken(), "hex");
  const challengeHash = hashOf(purpose, ceremonyToken, challenge.toString("base64url"));
  const expiresAt = new Date(Date.now() + PASSKEY_CHALLENGE_TTL_MS);
  await query((em) => em.insert(PasskeyChallenge, { challengeHash, expiresAt }));
  return { challenge, ceremonyToken };
}

const base64url = z.string().regex(/^[\w-]+$/);
const bytesOf = (text: string) => Buffer.from(text, "base64url");

const credentialId = base64url.max(1_364); // 1,023 bytes: WebAuthn, section 7.1

const answerWith = <Response extends z.ZodRawShape>(response: Response) =>
  z.object({
    id: credentialId,
    rawId: credentialId,
    type: z.literal("public-key"),
    clientExtensionResults: z.object({}).default({}),
    response: z.object({ clientDataJSON: base64url, ...response }),
  });

const signInAnswer = answerWith({ authenticatorData: base64url, signature: base64url, userHandle: base64url });

const transports = z.array(z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])).catch([]);
const newPasskey = answerWith({ attestationObject: base64url, transports });

const clientData = z.object({ challenge: base64url });

/** The answer and the challenge that it names; `null` for text that is not an authenticator's answer. */
function parse<Answer extends { response: { clientDataJSON: string } }>(schema: z.ZodType<Answer>, text: string) {
  try {
    const answer = schema.parse(JSON.parse(text));
    const { challenge } = clientData.parse(JSON.parse(bytesOf(answer.response.clientDataJSON).toString()));
    return { answer, challenge };
  } catch {
    return null;
  }
}

type Parsed = NonNullable<ReturnType<typeof parse>>;

/** Of simultaneous callers, exactly one consumes the challenge. */
async function consume<Answered extends Parsed>(
  { ceremonyToken }: Visitor,
  purpose: Purpose,
  answered: Answered | null,
) {
  if (!answered) return { reason: "malformed" } as const;
  const challengeHash = hashOf(purpose, ceremonyToken, answered.challenge);
  const where = { challengeHash, expiresAt: { $gt: new Date() } };
  const consumed = ceremonyToken !== null && (await query((em) => em.nativeDelete(PasskeyChallenge, where)));
  return consumed === 1 ? answered : ({ reason: "challenge" } as const);
}

/** Parses an answer, as JSON, and consumes its challenge. */
export const consumeSignIn = (visitor: Visitor, text: string) => consume(visitor, "sign-in", parse(signInAnswer, text));
export const consumeNewPasskey = (visitor: Visitor, purpose: Purpose, text: string) =>
  consume(visitor, purpose, parse(newPasskey, text));

type Consumed<Consume extends (...asked: never) => unknown> = Exclude<Awaited<ReturnType<Consume>>, { reason: string }>;
export type SignInAnswer = Consumed<typeof consumeSignIn>;

/** @throws Error while passkeys are off */
export function relyingPartyId(): string {
  const { relyingPartyId: id } = config();
  if (id === null) throw new Error("Passkeys are off.");
  return id;
}

const expected = (challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: config().appUrl,
  expectedRPID: relyingPartyId(),
});

/** WebAuthn, section 14.6.1: bytes that say nothing about the person. */
export const userHandle = (userId: string) => new Uint8Array(Buffer.from(userId.replaceAll("-", ""), "hex"));

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

const [ES256, RS256] = [-7, -257]; // IANA, "COSE Algorithms"

/** For new passkeys. Every platform and security key has ES256; Windows Hello may only have RS256. */
export const algorithms = [ES256, RS256];

type CoseKey = Pick<Map<number, unknown>, "get">;

/** Converts a COSE key (RFC 9053, section 7.1.1; RFC 8230, section 4). @throws Error for another type of key */
function jwkOf(key: CoseKey): JsonWebKey {
  const part = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString("base64url");
  const [type, algorithm, curve] = [1, 3, -1].map((label) => key.get(label));
  if (type === 2 && algorithm === ES256 && curve === 1) return { kty: "EC", crv: "P-256", x: part(-2), y: part(-3) };
  if (type === 3 && algorithm === RS256) return { kty: "RSA", n: part(-1), e: part(-2) };
  throw new Error("The key's type is not that of its algorithm.");
}

/** @throws Error for an invalid key, e.g. a point outside its curve, and for an RSA key of unusual size or exponent */
function assertUsable(key: CoseKey): void {
  const { modulusLength: bits = 2048, publicExponent = 65_537n } =
    createPublicKey({ key: jwkOf(key), format: "jwk" }).asymmetricKeyDetails ?? {};
  if (bits < 2048 || bits > 4096 || publicExponent !== 65_537n) throw new Error("The RSA key is not allowed.");
}

/**
 * WebAuthn, section 7.1; `null` when a step fails. An attestation with a certificate is refused: none is requested, and
 * the library would fetch the revocation list that the certificate names. A conditional creation has no user presence
 * and may have no user verification.
 */
export async function verifyNewPasskey(
  { answer, challenge }: Consumed<typeof consumeNewPasskey>,
  isConditional: boolean,
) {
  const { verifyRegistrationResponse } = await webAuthn();
  const { decodeAttestationObject, decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  try {
    const attestation = decodeAttestationObject(bytesOf(answer.response.attestationObject));
    const isSelfSigned = attestation.get("fmt") === "packed" && !attestation.get("attStmt").get("x5c");
    if (attestation.get("fmt") !== "none" && !isSelfSigned) return null;
    const { registrationInfo: info } = await verifyRegistrationResponse({
      ...expected(challenge),
      response: answer,
      supportedAlgorithmIDs: algorithms,
      requireUserPresence: !isConditional,
      requireUserVerification: !isConditional,
    });
    if (info?.credential.id !== answer.id) return null;
    assertUsable(decodeCredentialPublicKey(info.credential.publicKey));
    const publicKey = Buffer.from(info.credential.publicKey).toString("base64url");
    const { userVerified, credentialBackedUp: backedUp } = info;
    return { credentialId: answer.id, publicKey, counter: info.credential.counter, backedUp, userVerified };
  } catch {
    return null;
  }
}
