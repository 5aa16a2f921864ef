import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { Argon2id } from "oslo/password";

// More than half of the time of the tests of routes is Argon2. Here a hash takes one pass over 8 KiB, and states the
// parameters that were asked for. Its salt marks it, so that every process knows it. Hashes of other origins, such
// as decoys, are verified as they are.

const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 };
const parameters = /m=\d+,t=\d+,p=\d+/;
const mark = Buffer.from("a cheap hash"); // 12 bytes: its Base64 does not depend on what follows
const marked = `$${mark.toString("base64")}`;

/** @param {string} password */
Argon2id.prototype.hash = async function (password) {
  const { memorySize, iterations, parallelism } = this;
  const salt = Buffer.concat([mark, randomBytes(16 - mark.length)]);
  const phc = await hash(password.normalize("NFKC"), { ...cheap, salt });
  return phc.replace(parameters, `m=${memorySize},t=${iterations},p=${parallelism}`);
};

/** @param {string} stored @param {string} password */
Argon2id.prototype.verify = (stored, password) =>
  verify(stored.includes(marked) ? stored.replace(parameters, "m=8,t=1,p=1") : stored, password.normalize("NFKC"));
