const argon2id = /^\$argon2id\$v=19\$m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// The last letter of salt and hash has unused bits, which are zero. The library rejects a hash with other values.
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

// A refused login costs one verification of each stored kind, for every address: these limits keep a verification
// below half a second of CPU.
const highestCost = 13;
const mostMemory = 131_072; // KiB
const mostMemoryPasses = 524_288; // KiB times iterations
const mostLanes = 16;

/** The length of a base64 text in bytes; `null` for a text that no encoder writes. */
function decodedLength(text: string): number | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text ? bytes.length : null;
}

const isWithin = (length: number | null, least: number, most: number) =>
  length !== null && length >= least && length <= most;

/** `null` for a hash that can be verified: Argon2id in PHC format, or bcrypt in modular crypt format. */
export function hashProblem(hash: string): string | null {
  const cost = bcrypt.exec(hash)?.[1];
  if (cost !== undefined) {
    return Number(cost) < 4 || Number(cost) > highestCost ? `has a cost outside 4 to ${highestCost}` : null;
  }
  const [, m, t, p, salt = "", output = ""] = argon2id.exec(hash) ?? [];
  // The limits of the library.
  if (!isWithin(decodedLength(salt), 8, 48) || !isWithin(decodedLength(output), 16, 64)) {
    return "is neither Argon2id in PHC form nor bcrypt";
  }
  const [memory, passes, lanes] = [Number(m), Number(t), Number(p)];
  if (memory < 8 * lanes) return "has less memory than its lanes need";
  if (memory > mostMemory || memory * passes > mostMemoryPasses || lanes > mostLanes) {
    return `takes too much work: m is at most ${mostMemory}, m times t ${mostMemoryPasses}, p ${mostLanes}`;
  }
  return null;
}
