import { createHash } from "node:crypto";

/** SHA-256 as lower-case hex. Synchronous: Web Crypto would wait for Argon2, which uses the same threads. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
