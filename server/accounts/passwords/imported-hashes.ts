const argon2id = /^\$argon2id\$v=19\$m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// The last letter of salt and hash has unused bits, which are zero. The library rejects a hash with other values.
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

// PHC, with a salt of 8 to 64 bytes. `N < 2^(128·r/8)`, RFC 7914, section 2; a tiny N leaves the work to PBKDF2.
const scrypt = /^\$scrypt\$ln=([4-9]|[12]\d),r=([1-9]\d{0,6}),p=([1-9]\d{0,6})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const betterAuth = /^[0-9a-f]{32}:[0-9a-f]{128}$/;
const django = /^(pbkdf2_sha256)\$([1-9]\d{0,9})\$([!-#%-~]{1,128})\$([A-Za-z0-9+/]{43})=$/;
const passlib = /^\$(pbkdf2-sha(?:256|512))\$([1-9]\d{0,9})\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)$/;
const pbkdf2 = /^\$(pbkdf2-sha(?:256|512))\$i=([1-9]\d{0,9})(?:,l=(?:32|64))?\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// A refused login costs one verification of each stored kind, for every address: these limits keep a verification
// below a second of CPU (Node.js 20: scrypt 0.8 s, PBKDF2 0.5 s with SHA-256 and 0.9 s with SHA-512).
const highestCost = 13;
const mostMemory = 131_072; // KiB
const mostMemoryPasses = 524_288; // KiB times iterations
const mostLanes = 16;
const mostScryptWork = 2 ** 21; // N times r times p
const mostIterations = { "pbkdf2-sha256": 2_000_000, "pbkdf2-sha512": 1_000_000 };

/** The length of a base64 text in bytes; `null` for a text that no encoder writes. */
function decodedLength(text: string): number | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text ? bytes.length : null;
}

const isWithin = (length: number | null | undefined, least: number, most: number) =>
  length != null && length >= least && length <= most;

function scryptProblem([ln = 0, r = 0, p = 0]: number[]): string | null {
  if (ln >= 16 * r) return "has an N that is too large for its r";
  const isHeavy = 2 ** ln * r > mostMemory * 8 || 2 ** ln * r * p > mostScryptWork;
  return isHeavy ? `takes too much work: 128·N·r is at most ${mostMemory} KiB, N·r·p ${mostScryptWork}` : null;
}

function pbkdf2Problem(name: string, iterations: number): string | null {
  const most = mostIterations[name.replace("_", "-") as keyof typeof mostIterations];
  return iterations > most ? `takes too much work: at most ${most} iterations` : null;
}

/** A problem of the parameters, `null` for none; `undefined` for what is neither scrypt nor PBKDF2. */
function derivedProblem(hash: string): string | null | undefined {
  if (betterAuth.test(hash)) return null;
  const [, ln, r, p, ...ofScrypt] = scrypt.exec(hash) ?? [];
  if (ln && hasLengths(ofScrypt, 16, 64)) return scryptProblem([ln, r, p].map(Number));
  const [, name = "", iterations, ...encoded] = django.exec(hash) ?? passlib.exec(hash) ?? pbkdf2.exec(hash) ?? [];
  const length = name.endsWith("512") ? 64 : 32; // a longer output would be more work
  const isWhole = name.startsWith("pbkdf2_") || hasLengths(encoded, length, length);
  return name && isWhole ? pbkdf2Problem(name, Number(iterations)) : undefined;
}

/** Whether salt and output, in base64, are as long as they may be. The salt: 8 to 64 bytes, as of the libraries. */
function hasLengths([salt = "", output = ""]: string[], least: number, most: number): boolean {
  const [saltLength, outputLength] = [salt, output].map((text) => decodedLength(text.replaceAll(".", "+")));
  return isWithin(saltLength, 8, 64) && isWithin(outputLength, least, most);
}

/** `null` for a hash that can be verified: Argon2id, scrypt or PBKDF2 in PHC format, bcrypt, or as Better Auth, Django or passlib write it. */
export function hashProblem(hash: string): string | null {
  const cost = bcrypt.exec(hash)?.[1];
  if (cost !== undefined) {
    return Number(cost) < 4 || Number(cost) > highestCost ? `has a cost outside 4 to ${highestCost}` : null;
  }
  const ofDerived = derivedProblem(hash);
  if (ofDerived !== undefined) return ofDerived;
  const [, m, t, p, salt = "", output = ""] = argon2id.exec(hash) ?? [];
  // The limits of the library.
  if (!isWithin(decodedLength(salt), 8, 48) || !isWithin(decodedLength(output), 16, 64)) {
    return "is no hash that can be imported (docs/moving.md)";
  }
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)];
  if (memory < 8 * lanes) return "has less memory than its lanes need";
  if (memory > mostMemory || memory * passes > mostMemoryPasses || lanes > mostLanes) {
    return `takes too much work: m is at most ${mostMemory}, m times t ${mostMemoryPasses}, p ${mostLanes}`;
  }
  return null;
}
