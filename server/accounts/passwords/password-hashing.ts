import { availableParallelism } from "node:os";
import { Argon2id } from "../../crypto/oslo";
import { kindOf } from "../../database/password-kinds";
import { HashingOverloaded } from "../../errors";
import { log } from "../../log";
import type { Visitor } from "../../visitor/visitor";
import { decoyOf, matchesHash, parameterOf, remainderOf, withoutIterations } from "./stored-hashes";

const parameters = { memorySize: 19_456, iterations: 2, parallelism: 1 }; // KiB; OWASP Password Storage Cheat Sheet
const argon2id = new Argon2id(parameters);

// Argon2 runs in libuv's pool of four threads, which also resolves names. A rush of logins that filled the pool would
// stop every new connection to the database, the mail service and the identity provider.
const concurrency = Math.max(2, Math.min(3, availableParallelism()));
const maxWaiting = 64;
const maxWaitingOfNetwork = 8; // otherwise one client with accounts could take every place

type Asking = Pick<Visitor, "network" | "gone">;

const waiting = new Set<{ network: string; enter(): void }>();
let running = 0;

export const hashesWaiting = (): number => waiting.size;

/** A PHC string of the password, with the parameters in force. @throws HashingOverloaded */
export function hashPassword(visitor: Asking, password: string): Promise<string> {
  return withinConcurrency(visitor, () => argon2id.hash(password));
}

const { memorySize, iterations, parallelism } = parameters;
export const kindInForce = `$argon2id$v=19$m=${memorySize},t=${iterations},p=${parallelism}`;

/**
 * Verifies a password in a time that tells neither whether there is a hash nor of which kind it is. Several kinds are
 * stored after an import, and after the parameters have been raised. A refused password costs one verification for each
 * stored kind, in one order: of the user's hash for its kind, of a decoy for the others and for the iterations of
 * PBKDF2 that the user's hash lacks.
 * @param stored the hash, `null` without a user or a password, and the kinds of all stored hashes
 * @throws HashingOverloaded
 */
export function verifyPassword(
  visitor: Asking,
  password: string,
  stored: { hash: string | null; kinds: readonly string[] },
): Promise<boolean> {
  const { hash, kinds } = stored;
  const own = hash === null ? undefined : kindOf(hash);
  const isOwn = (kind: string) => own !== undefined && withoutIterations(kind) === withoutIterations(own);
  const verified = new Set(kinds);
  if (!kinds.some(isOwn)) verified.add(own ?? kinds[0] ?? kindInForce);
  return withinConcurrency(visitor, async () => {
    for (const kind of verified) {
      const runs = hash !== null && isOwn(kind) ? [hash, ...remainderOf(kind, hash)] : [decoyOf(kind)];
      for (const run of runs) if (await matchesHash(run, password)) return true;
    }
    return false;
  });
}

async function withinConcurrency<T>(visitor: Asking, work: () => Promise<T>): Promise<T> {
  const gone = visitor.gone();
  gone.throwIfAborted();
  if (running < concurrency) running++;
  else await waitForTurn(visitor.network, gone);
  try {
    return await work();
  } finally {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next.enter();
    } else running--;
  }
}

/** Waits until another hash ends. Stops waiting when the client hangs up. */
function waitForTurn(network: string, gone: AbortSignal): Promise<void> {
  if (isFull(network)) {
    log.warn("Too many passwords wait to be hashed.");
    throw new HashingOverloaded();
  }
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(place);
      reject(gone.reason);
    };
    const enter = () => {
      gone.removeEventListener("abort", leave);
      resolve();
    };
    const place = { network, enter };
    waiting.add(place);
    gone.addEventListener("abort", leave, { once: true });
  });
}

function isFull(network: string): boolean {
  const ofNetwork = [...waiting].filter((other) => other.network === network).length;
  return waiting.size >= maxWaiting || ofNetwork >= maxWaitingOfNetwork;
}

/** Whether a stored hash is not Argon2id, or was made with weaker parameters than those in force. */
export function isOutdated(hash: string): boolean {
  const kind = kindOf(hash) ?? ""; // no other algorithm has an `m` and a `t`
  return !(parameterOf(kind, "m") >= memorySize && parameterOf(kind, "t") >= iterations);
}
