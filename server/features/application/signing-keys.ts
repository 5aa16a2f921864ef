import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { SigningKey } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import { StartError } from "../../errors";

const publishedBefore = 10 * 60_000; // ms before it signs: an application keeps the published keys for five minutes
const publishedAfter = 31 * 60_000; // ms: half an hour after its last use, up to half a minute after a successor starts

/** After a change of IDENTITY_KEY, a process with the old value signs with an earlier key until its restart. */
export async function findSigner(em: EntityManager) {
  for (const { id, encryptedPrivateKey } of await keysInForce(em)) {
    const privateKey = await decrypt(encryptedPrivateKey);
    if (privateKey) return { kid: id, privateKey };
  }
  throw new Error("IDENTITY_KEY decrypts no signing key.");
}

/** Makes the first key. The caller holds the lock of the start. @throws StartError when IDENTITY_KEY has changed */
export async function prepareSigningKeys(em: EntityManager): Promise<void> {
  if (!config().identityKey) return;
  const usable = await canSign(em);
  if (usable === null) await addKey(em, new Date());
  if (usable !== false) return;
  const fix = "restore the one that encrypted it, or run `latchkey keys rotate`";
  throw new StartError(`IDENTITY_KEY does not decrypt the signing key: ${fix}.`);
}

/** Publishes a new key. @returns when it starts to sign: at once, if IDENTITY_KEY does not decrypt the current key */
export const rotateSigningKeys = (): Promise<Date> =>
  unitOfWork(async (em) => {
    const usable = await canSign(em);
    const signsFrom = new Date(Date.now() + (usable ? publishedBefore : 0));
    // The keys that would sign later were encrypted with the same IDENTITY_KEY as the current one.
    if (!usable) await em.nativeDelete(SigningKey, { signsFrom: { $gt: signsFrom } });
    await addKey(em, signsFrom);
    return signsFrom;
  });

/** Whether IDENTITY_KEY decrypts the key that signs; `null` when there is none. */
export async function canSign(em: EntityManager): Promise<boolean | null> {
  const [key] = await keysInForce(em);
  return key ? (await decrypt(key.encryptedPrivateKey)) !== null : null;
}

/** The latest key, which signs, comes first. */
const keysInForce = (em: EntityManager) =>
  em.find(SigningKey, { signsFrom: { $lte: new Date() } }, { orderBy: { signsFrom: "desc", id: "asc" } });

/** `null` if the key was encrypted with another IDENTITY_KEY. */
async function decrypt(privateKey: string): Promise<CryptoKey | null> {
  const { compactDecrypt, importPKCS8 } = await jose();
  const decrypted = await compactDecrypt(privateKey, encryptionKey()).catch(() => null);
  return decrypted && importPKCS8(new TextDecoder().decode(decrypted.plaintext), "ES256");
}

async function addKey(em: EntityManager, signsFrom: Date): Promise<void> {
  const { calculateJwkThumbprint, CompactEncrypt, exportJWK, exportPKCS8, generateKeyPair } = await jose();
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  const id = await calculateJwkThumbprint(jwk);
  const encryption = new CompactEncrypt(new TextEncoder().encode(await exportPKCS8(privateKey)));
  encryption.setProtectedHeader({ alg: "dir", enc: "A256GCM" });
  await em.insert(SigningKey, {
    id,
    publicKey: { ...jwk, kid: id, alg: "ES256", use: "sig" },
    encryptedPrivateKey: await encryption.encrypt(encryptionKey()),
    signsFrom,
  });
}

/** jose takes a sixth of the time of a start to load: only with IDENTITY_TOKENS, or for a logout token. */
const jose = () => import("jose");
const encryptionKey = () => config().identityKey as Uint8Array;

/** MikroORM's condition for the keys that are no longer published. */
export function retired(now: Date) {
  const earlier = "signs_from < (select max(signs_from) from signing_keys where signs_from <= ?)";
  return { [raw(earlier, [new Date(now.getTime() - publishedAfter)])]: [] };
}

/** `null` when IDENTITY_TOKENS is off. */
export async function publicKeys(): Promise<object[] | null> {
  if (!config().identityKey) return null;
  const keys = await query((em) => em.findAll(SigningKey, { orderBy: { signsFrom: "asc", id: "asc" } }));
  return keys.map(({ publicKey }) => publicKey);
}
