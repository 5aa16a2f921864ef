import { availableParallelism } from "node:os";
import { Argon2id } from "oslo/password";
import type { Requester } from "../../door/request-facts.server";
import { HashingOverloaded } from "../../errors";
import { decoyOf, kindOf, matchesHash } from "./stored-hashes";

const parameters = { memorySize: 19_456, iterations: 2, parallelism: 1 }; // KiB; OWASP Password Storage Cheat Sheet
const argon2id = new Argon2id(parameters);

// Argon2 runs in libuv's pool of four threads, which also resolves names. A rush of logins that filled the pool would
// stop every new connection to the database, the mail service and the identity provider.
const concurrency = Math.max(2, Math.min(3, availableParallelism()));
const mostWaiting = 64;
const mostWaitingOfClient = 8; // an IPv4 address or an IPv6 /64: somebody with accounts of his own could keep every place full otherwise

interface Waiting {
  client: string | undefined;
  enter(): void;
}

const waiting = new Set<Waiting>();
let running = 0;

export const hashesWaiting = (): number => waiting.size;

function isFull(client: string | undefined): boolean {
  const ofClient = [...waiting].filter((other) => client !== undefined && other.client === client).length;
  return waiting.size >= mostWaiting || ofClient >= mostWaitingOfClient;
}

/** Waits until a hash ends. A request whose client has hung up waits no longer. */
function waitForTurn({ client, signal }: Partial<Requester>): Promise<void> {
  if (isFull(client)) throw new HashingOverloaded("Too many hashes wait.");
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(place);
      reject(signal?.reason);
    };
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const place = { client, enter };
    waiting.add(place);
    signal?.addEventListener("abort", leave, { once: true });
  });
}

async function withinConcurrency<T>(requester: Partial<Requester>, work: () => Promise<T>): Promise<T> {
  requester.signal?.throwIfAborted();
  if (running < concurrency) running++;
  else await waitForTurn(requester);
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

/** A PHC string of the password, with the parameters in force. @throws HashingOverloaded */
export function hashPassword(password: string, requester: Partial<Requester> = {}): Promise<string> {
  return withinConcurrency(requester, () => argon2id.hash(password));
}

const { memorySize, iterations, parallelism } = parameters;
export const kindInForce = `$argon2id$v=19$m=${memorySize},t=${iterations},p=${parallelism}`;

/**
 * Verifies a password in a time that does not tell whether there is a hash, nor of which kind: several are stored after an
 * import, and after the parameters have been raised. A refused password costs one verification for each stored kind, in one
 * order, for every user: of the user's own kind the hash, of the others a decoy. @throws HashingOverloaded
 */
export function verifyPassword(
  hash: string | null,
  password: string,
  kinds: readonly string[],
  requester: Partial<Requester> = {},
): Promise<boolean> {
  const own = hash === null ? undefined : kindOf(hash);
  const verified = new Set([...kinds, own ?? kinds[0] ?? kindInForce]);
  return withinConcurrency(requester, async () => {
    for (const kind of verified) {
      const stored = hash !== null && kind === own ? hash : decoyOf(kind);
      if (await matchesHash(stored, password)) return true;
    }
    return false;
  });
}

/** Whether a stored hash is not Argon2id, or was made with weaker parameters than those in force. */
export function isOutdated(hash: string): boolean {
  const [, memory, iterations] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(hash) ?? [];
  return Number(memory ?? 0) < parameters.memorySize || Number(iterations ?? 0) < parameters.iterations;
}
