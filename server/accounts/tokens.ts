import { encodeHex } from "oslo/encoding";

/** 256 random bits as 64 lower-case hex characters. */
export function mintToken(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(32)));
}

const spelling = /^[0-9a-f]{64}$/;

/** Whether a text has the one spelling that a token has. */
export const isToken = (text: string): boolean => spelling.test(text);
