import { availableParallelism } from "node:os";
import { Argon2id } from "oslo/password";

const parameters = { memorySize: 19_456, iterations: 2, parallelism: 1 }; // KiB; OWASP Password Storage Cheat Sheet
const argon2id = new Argon2id(parameters);

// Argon2 runs in libuv's pool of four threads, where Node also looks up names: a rush of logins that filled it would
// cut off every new connection to the database, the mail service and the identity provider.
const places = Math.min(3, availableParallelism());
const queue: (() => void)[] = [];
let taken = 0;

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (taken < places) taken++;
  else await new Promise<void>((resolve) => queue.push(resolve));
  try {
    return await work();
  } finally {
    const next = queue.shift();
    if (next) next();
    else taken--;
  }
}

export const hashPassword = (password: string): Promise<string> => inTurn(() => argon2id.hash(password));

/** Hash of a random password that nobody knows, at the parameters in force. */
const nobodysHash = argon2id.hash(crypto.randomUUID());
nobodysHash.catch(() => {});

/** Takes as long for a missing hash as for a wrong password, so that time tells nothing about the account. */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const stored = hash ?? (await nobodysHash);
  const matches = await inTurn(() => argon2id.verify(stored, password));
  return hash !== null && matches;
}

/** Whether a stored PHC string was made with weaker parameters than those in force. */
export function isOutdated(hash: string): boolean {
  const [, memory, iterations] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(hash) ?? [];
  return Number(memory ?? 0) < parameters.memorySize || Number(iterations ?? 0) < parameters.iterations;
}
