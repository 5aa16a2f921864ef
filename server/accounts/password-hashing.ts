import { availableParallelism } from "node:os";
import { Argon2id } from "oslo/password";

const parameters = { memorySize: 19_456, iterations: 2, parallelism: 1 }; // KiB; OWASP Password Storage Cheat Sheet
const argon2id = new Argon2id(parameters);

// Argon2 runs in libuv's pool of four threads, which also resolves names. A rush of logins that filled the pool would
// stop every new connection to the database, the mail service and the identity provider.
const concurrency = Math.min(3, availableParallelism());
const waiting: (() => void)[] = [];
let running = 0;

/** Runs `work` when fewer than `concurrency` others run. */
async function withinConcurrency<T>(work: () => Promise<T>): Promise<T> {
  if (running < concurrency) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** A PHC string of the password, with the parameters in force. */
export const hashPassword = (password: string): Promise<string> => withinConcurrency(() => argon2id.hash(password));

/** The hash that is verified for an unknown user: of a random password, with the parameters in force. */
const decoyHash = argon2id.hash(crypto.randomUUID());
decoyHash.catch(() => {});

/** Verifies a hash even where there is none, so that the time does not tell whether there is an account. */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const stored = hash ?? (await decoyHash);
  const matches = await withinConcurrency(() => argon2id.verify(stored, password));
  return hash !== null && matches;
}

/** Whether a stored PHC string was made with weaker parameters than those in force. */
export function isOutdated(hash: string): boolean {
  const [, memory, iterations] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(hash) ?? [];
  return Number(memory ?? 0) < parameters.memorySize || Number(iterations ?? 0) < parameters.iterations;
}
