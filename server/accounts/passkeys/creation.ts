import { createPublicKey, type JsonWebKey } from "node:crypto";
import { type EntityManager, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import * as z from "zod";
import { config } from "../../config";
import { Passkey, type User } from "../../database/entities";
import { ErrorWithReason } from "../../errors";
import type { PasskeyFailure } from "../../events/events";
import { logEvent } from "../../log";
import { maxPasskeys, PASSKEY_CHALLENGE_TTL_MS } from "../../rules";
import { browserName } from "../../visitor/browsers";
import type { Visitor } from "../../visitor/visitor";
import {
  answerWith,
  base64url,
  bytesOf,
  type CeremonyPurpose,
  consume,
  expected,
  issueChallenge,
  userHandle,
  webAuthn,
} from "./ceremonies";
import { rpId, usable } from "./relying-party";

const [ES256, RS256] = [-7, -257]; // IANA, "COSE Algorithms"

/** For new passkeys. Every platform and security key has ES256; Windows Hello may only have RS256. */
const algorithms = [ES256, RS256];

type CoseKey = Pick<Map<number, unknown>, "get">;

/** The account that gets the passkey. */
type Account = Pick<User, "id" | "email" | "name"> & { passkeys: Pick<Passkey, "credentialId">[] };

/**
 * The `options` of the browser's `navigator.credentials.create`. Each authenticator makes one passkey for an account.
 * `wait` seconds after too many challenges; `null` for an account that has its maximum of passkeys.
 */
export async function startCreation(visitor: Visitor, purpose: CeremonyPurpose, account: Account) {
  if (account.passkeys.length >= maxPasskeys) return null;
  const issued = await issueChallenge(visitor, purpose);
  if ("wait" in issued) return issued;
  const { id, email, name, passkeys } = account;
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    timeout: PASSKEY_CHALLENGE_TTL_MS,
    rpName: config().brand.name,
    rpID: rpId(),
    userID: userHandle(id),
    userName: email,
    userDisplayName: name ?? email,
    challenge: issued.challenge,
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: {
      residentKey: "required",
      // A browser that can verify nobody without a dialogue refuses a conditional creation with "required".
      userVerification: isConditional(purpose) ? "preferred" : "required",
    },
    excludeCredentials: passkeys.map(({ credentialId: id }) => ({ id })),
  });
  return { options, ceremonyToken: issued.ceremonyToken };
}

const transports = z.array(z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])).catch([]);
const creationAnswer = answerWith({ attestationObject: base64url, transports });

/**
 * The new passkey of an authenticator's answer, for the database; `refused` for any reason. Its challenge is used up.
 * @param text the answer, as JSON
 * @param name the passkey's name, by default the browser's
 */
export async function acceptPasskey(
  visitor: Visitor,
  purpose: CeremonyPurpose,
  text: string,
  name: string | null = null,
) {
  const answered = await consume(visitor, purpose, [creationAnswer, text]);
  if ("reason" in answered) return refusePasskey(answered.reason);
  const { answer, challenge } = answered;
  const verified = await verify(answer, challenge, isConditional(purpose));
  if (!verified) return refusePasskey("not_verified");
  const { transports } = answer.response;
  const { userAgent, language } = visitor;
  return { ...verified, transports, name: name ?? browserName(userAgent, language), createdAt: new Date() };
}

/**
 * WebAuthn, section 7.1; `null` when a step fails. An attestation with a certificate is refused: none is requested, and
 * the library would fetch the revocation list that the certificate names. A conditional creation has no user presence
 * and may have no user verification.
 */
async function verify(answer: z.output<typeof creationAnswer>, challenge: string, isConditional: boolean) {
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

/** @throws Error for an invalid key, e.g. a point outside its curve, and for an RSA key of unusual size or exponent */
function assertUsable(key: CoseKey): void {
  const { modulusLength: bits = 2048, publicExponent = 65_537n } =
    createPublicKey({ key: jwkOf(key), format: "jwk" }).asymmetricKeyDetails ?? {};
  if (bits < 2048 || bits > 4096 || publicExponent !== 65_537n) throw new Error("The RSA key is not allowed.");
}

/** Converts a COSE key (RFC 9053, section 7.1.1; RFC 8230, section 4). @throws Error for another type of key */
function jwkOf(key: CoseKey): JsonWebKey {
  const part = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString("base64url");
  const [type, algorithm, curve] = [1, 3, -1].map((label) => key.get(label));
  if (type === 2 && algorithm === ES256 && curve === 1) return { kty: "EC", crv: "P-256", x: part(-2), y: part(-3) };
  if (type === 3 && algorithm === RS256) return { kty: "RSA", n: part(-1), e: part(-2) };
  throw new Error("The key's type is not that of its algorithm.");
}

/** A browser creates such a passkey without a click (WebAuthn Level 3, section 5.1.3). */
const isConditional = (purpose: CeremonyPurpose) => purpose.startsWith("upgrade:");

export type NewPasskey = Exclude<Awaited<ReturnType<typeof acceptPasskey>>, "refused">;

/** @throws PasskeyRefused when the account has `max` usable passkeys, or anybody has this one */
export async function insertPasskey(
  em: EntityManager,
  userId: string,
  passkey: NewPasskey & { questionedAt?: Date | null },
  max = maxPasskeys,
) {
  if ((await em.count(Passkey, { user: userId, ...usable() })) >= max) throw new PasskeyRefused("too_many");
  await em.insert(Passkey, { ...passkey, rpId: rpId(), user: userId }).catch((error: unknown) => {
    throw error instanceof UniqueConstraintViolationException ? new PasskeyRefused("known") : error;
  });
}

/** Turns a refused passkey into `refused`, and logs it, for `catch`. Throws every other error on. */
export function refusedIfPasskey(error: unknown): "refused" {
  if (error instanceof PasskeyRefused) return refusePasskey(error.reason);
  throw error;
}

class PasskeyRefused extends ErrorWithReason<PasskeyFailure> {
  override name = "PasskeyRefused";
}

function refusePasskey(reason: PasskeyFailure): "refused" {
  logEvent({ event: "passkey.failed", reason });
  return "refused";
}
