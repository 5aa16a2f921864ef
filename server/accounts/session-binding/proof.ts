import type { JWK } from "jose";
import { sha256 } from "../../crypto/tokens";

const maxProof = 8_192; // characters
const maxModulus = 683; // base64url characters of an RSA key's 4,096 bits

/** The SHA-256 of a proof's challenge. The proof is verified later, if the challenge is one of ours. */
export async function challengeOf(proof: string): Promise<string | null> {
  if (proof.length > maxProof) return null;
  const { decodeJwt } = await import("jose");
  try {
    const { jti } = decodeJwt(proof);
    return typeof jti === "string" ? sha256(jti) : null;
  } catch {
    return null; // no JWT
  }
}

/**
 * Verifies a DBSC proof (the draft's "DBSC Proof JWT Syntax") by the registered key, or by the one in its header. Uses
 * no `kid`, `jku` or `x5c`, and no time: the browser's clock may be off.
 * @returns the key without other members of the header, which PostgreSQL may not take; `null` for an invalid proof
 */
export async function verifyProof(proof: string, registered?: JWK): Promise<JWK | null> {
  const { compactVerify, EmbeddedJWK, exportJWK, importJWK } = await import("jose");
  const algorithms = registered?.alg ? [registered.alg] : ["ES256", "RS256"];
  const findKey = registered ? () => importJWK(registered) : EmbeddedJWK;
  try {
    const { protectedHeader, key } = await compactVerify(proof, findKey, { algorithms });
    const jwk = registered ?? { ...(await exportJWK(key)), alg: protectedHeader.alg };
    return protectedHeader.typ === "dbsc+jwt" && (jwk.n ?? "").length <= maxModulus ? jwk : null;
  } catch {
    return null; // jose and Web Crypto throw errors of many classes for hostile keys and signatures
  }
}
