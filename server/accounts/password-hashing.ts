import { availableParallelism } from "node:os";
import { Argon2id } from "oslo/password";

const parameters = { memorySize: 19_456, iterations: 2, parallelism: 1 }; // KiB; OWASP Password Storage Cheat Sheet
const argon2id = new Argon2id(parameters);

// Argon2 runs in libuv's pool of four threads, which also resolves names. A rush of logins that filled the pool would
// stop every new connection to the database, the mail service and the identity provider.
const concurrency = Math.max(2, Math.min(3, availableParallelism()));
const mostWaiting = 64;

/** Too many hashes wait already. The same work may succeed in a moment. */
export class HashingOverloaded extends Error {
  override name = "HashingOverloaded";
}

/** Whoever waits, in order. */
const waiting = new Set<() => void>();
let running = 0;

/** Waits for a place. A client that hangs up leaves the line. */
function place(signal: AbortSignal | undefined): Promise<void> {
  if (waiting.size >= mostWaiting) throw new HashingOverloaded("Too many hashes wait.");
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(enter);
      reject(signal?.reason);
    };
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    waiting.add(enter);
    signal?.addEventListener("abort", leave, { once: true });
  });
}

/** Runs `work` when fewer than `concurrency` others run. */
async function withinConcurrency<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  if (running < concurrency) running++;
  else await place(signal);
  try {
    return await work();
  } finally {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else running--;
  }
}

/**
 * A PHC string of the password, with the parameters in force.
 *
 * @param signal aborted when nobody waits for the result any more
 * @throws HashingOverloaded
 */
export function hashPassword(password: string, signal?: AbortSignal): Promise<string> {
  return withinConcurrency(signal, () => argon2id.hash(password));
}

/** The hash that is verified for an unknown user: of a random password, with the parameters in force. */
const decoyHash = argon2id.hash(crypto.randomUUID());
decoyHash.catch(() => {});

/**
 * Verifies a hash even where there is none, so that the time does not tell whether there is an account.
 *
 * @param signal aborted when nobody waits for the result any more
 * @throws HashingOverloaded
 */
export async function verifyPassword(hash: string | null, password: string, signal?: AbortSignal): Promise<boolean> {
  const stored = hash ?? (await decoyHash);
  const matches = await withinConcurrency(signal, () => argon2id.verify(stored, password));
  return hash !== null && matches;
}

/** Whether a stored PHC string was made with weaker parameters than those in force. */
export function isOutdated(hash: string): boolean {
  const [, memory, iterations] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(hash) ?? [];
  return Number(memory ?? 0) < parameters.memorySize || Number(iterations ?? 0) < parameters.iterations;
}
