const argon2id = /^\$argon2id\$v=19\$m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

// The last letter of salt and hash has unused bits, which are zero. The library rejects a hash with other values.
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

// PHC. A smaller N would leave the work to the PBKDF2 in it.
const scrypt = /^\$scrypt\$ln=([4-9]|[12]\d),r=([1-9]\d{0,6}),p=([1-9]\d{0,6})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;
const betterAuth = /^[0-9a-f]{32}:[0-9a-f]{128}$/;
const django = /^pbkdf2_(sha256)\$([1-9]\d{0,9})\$[!-#%-~]{1,128}\$[A-Za-z0-9+/]{43}=$/;
// PHC, and passlib's form without `i=` and with a dot for the plus.
const pbkdf2 = /^\$pbkdf2-(sha256|sha512)\$(?:i=)?([1-9]\d{0,9})(?:,l=(?:32|64))?\$[A-Za-z0-9+/.]+\$[A-Za-z0-9+/.]+$/;

// A refused login costs one verification of each stored kind, for every address: these limits keep a verification
// below a second of CPU (Node.js 20: scrypt 0.9 s, PBKDF2 0.5 s with SHA-256 and 0.9 s with SHA-512).
const highestCost = 13;
const maxMemory = 131_072; // KiB
const maxMemoryPasses = 524_288; // KiB times iterations
const maxLanes = 16;
const maxScryptWork = 2 ** 21; // N times r times p
const maxIterations: Record<string, number> = { sha256: 2_000_000, sha512: 1_000_000 };

/** `null` for a hash that can be verified: docs/moving.md has the forms. */
export function hashProblem(hash: string): string | null {
  if (betterAuth.test(hash)) return null;
  const cost = bcrypt.exec(hash)?.[1];
  if (cost !== undefined) {
    return Number(cost) < 4 || Number(cost) > highestCost ? `has a cost outside 4 to ${highestCost}` : null;
  }
  const [, ln, r = 0, p = 0] = scrypt.exec(hash)?.map(Number) ?? [];
  if (ln && hasLengths(hash, 64, 16, 64)) return scryptProblem(ln, r, p);
  const [, digest = "", iterations] = django.exec(hash) ?? pbkdf2.exec(hash) ?? [];
  const length = digest === "sha512" ? 64 : 32; // a longer output would be more work
  if (django.test(hash) || (digest && hasLengths(hash, 64, length, length))) {
    const max = maxIterations[digest] ?? 0;
    return Number(iterations) > max ? `takes too much work: at most ${max} iterations` : null;
  }
  const [, memory = 0, passes = 0, lanes = 0] = argon2id.exec(hash)?.map(Number) ?? [];
  // The lengths are limits of the library.
  if (lanes === 0 || !hasLengths(hash, 48, 16, 64)) return "is not a hash that can be imported (docs/moving.md)";
  if (memory < 8 * lanes) return "has less memory than its lanes need";
  if (memory > maxMemory || memory * passes > maxMemoryPasses || lanes > maxLanes) {
    return `takes too much work: m is at most ${maxMemory}, m times t ${maxMemoryPasses}, p ${maxLanes}`;
  }
  return null;
}

/** Whether the hash ends with a salt and an output of these lengths, in base64. */
function hasLengths(hash: string, maxSalt: number, minOutput: number, maxOutput: number): boolean {
  const texts = hash.replaceAll(".", "+").split("$").slice(-2);
  const [salt, output] = texts.map(decodedLength);
  return isWithin(salt, 8, maxSalt) && isWithin(output, minOutput, maxOutput);
}

/** The length of a base64 text in bytes; `null` for a text that no encoder writes. */
function decodedLength(text: string): number | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text ? bytes.length : null;
}

const isWithin = (length: number | null | undefined, min: number, max: number) =>
  length != null && length >= min && length <= max;

function scryptProblem(ln: number, r: number, p: number): string | null {
  if (ln >= 16 * r) return "has an N that is too large for its r"; // RFC 7914, section 2
  const isHeavy = 2 ** ln * r > maxMemory * 8 || 2 ** ln * r * p > maxScryptWork;
  return isHeavy ? `takes too much work: 128·N·r is at most ${maxMemory} KiB, N·r·p ${maxScryptWork}` : null;
}
