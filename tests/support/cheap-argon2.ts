import { hash, verify } from "@node-rs/argon2";
import { Argon2id } from "oslo/password";

// More than half of the time of the tests of routes is Argon2. Here a hash takes one pass over 8 KiB, and states the
// parameters that were asked for. Hashes of other origins, such as decoys, are verified as they are.

const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 };
const parameters = /m=\d+,t=\d+,p=\d+/;
const made = new Set<string>();

interface Parameters {
  memorySize: number;
  iterations: number;
  parallelism: number;
}

Argon2id.prototype.hash = async function (password) {
  const { memorySize, iterations, parallelism } = this as unknown as Parameters;
  const phc = await hash(password.normalize("NFKC"), cheap);
  const stated = phc.replace(parameters, `m=${memorySize},t=${iterations},p=${parallelism}`);
  made.add(stated);
  return stated;
};

Argon2id.prototype.verify = (stored, password) =>
  verify(made.has(stored) ? stored.replace(parameters, "m=8,t=1,p=1") : stored, password.normalize("NFKC"));
