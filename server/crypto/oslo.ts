/** All that Latchkey uses of oslo, which its author has deprecated (docs/dependencies.md). */
export { type CookieAttributes, serializeCookie } from "oslo/cookie";
export { encodeHex } from "oslo/encoding";
export { Argon2id } from "oslo/password";
