import { createHash, randomBytes } from "node:crypto";
import { encodeHex } from "./oslo";

/** 256 random bits as 64 lower-case hex characters. */
export function mintToken(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(32)));
}

export const isToken = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Secret scanners know tokens by it. */
export const accessTokenPrefix = "latchkey_";

/** 256 random bits in base64url. */
export const mintAccessToken = () => accessTokenPrefix + randomBytes(32).toString("base64url");

export const isAccessToken = (text: string): boolean => /^latchkey_[\w-]{43}$/.test(text);

/** The UUID of a text: the same for the same text (RFC 9562, UUIDv8). */
export const uuidOf = (text: string): string =>
  sha256(text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");

/** SHA-256 as lower-case hex. Synchronous: Web Crypto would wait for Argon2, which uses the same threads. */
export const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
