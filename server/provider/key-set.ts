import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import * as z from "zod";
import { CallError, callJson } from "../calls/json-client";
import { discoverEndpoints } from "./discovery";

/** RFC 7517, section 5. */
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

const lifetime = 24 * 3_600_000; // ms
const pause = 10_000; // ms between two attempts to replace a known set, whatever tokens are sent
const longest = 5_500; // ms for discovery and the key set together
const shortest = 500; // ms for the key set where discovery took its five seconds

interface KeySet {
  findKey: JWTVerifyGetKey;
  fetchedAt: number;
  triedAt: number;
  /** Why the last attempt to replace it failed. */
  failure: unknown;
}

const known = new Map<string, KeySet>();
const running = new Map<string, Promise<KeySet>>();

async function fetchKeySet(issuer: string): Promise<KeySet> {
  const start = Date.now();
  const { keySetUrl } = await discoverEndpoints(issuer);
  if (keySetUrl === null) throw new CallError("unexpected");
  const deadline = Math.max(longest - (Date.now() - start), shortest);
  const keys = await callJson(keySetUrl, { method: "GET", deadline }, keySet);
  const { createLocalJWKSet } = await import("jose");
  const now = Date.now();
  return { findKey: createLocalJWKSet(keys as JSONWebKeySet), fetchedAt: now, triedAt: now, failure: undefined };
}

async function replace(issuer: string): Promise<KeySet> {
  try {
    const fetched = await fetchKeySet(issuer);
    known.set(issuer, fetched);
    return fetched;
  } catch (failure) {
    const old = known.get(issuer);
    if (old) known.set(issuer, { ...old, triedAt: Date.now(), failure });
    throw failure;
  } finally {
    running.delete(issuer);
  }
}

function refresh(issuer: string): Promise<KeySet> {
  const set = running.get(issuer) ?? replace(issuer);
  running.set(issuer, set);
  return set;
}

const wasJustTried = ({ triedAt }: KeySet) => Date.now() - triedAt < pause;

/** Fetched once a day; where that fails, the last one stays. */
async function currentKeySet(issuer: string): Promise<KeySet> {
  const set = known.get(issuer);
  if (!set) return refresh(issuer);
  if (Date.now() - set.fetchedAt < lifetime || wasJustTried(set)) return set;
  return refresh(issuer).catch(() => set);
}

/** Finds the issuer's key of a token. A key that the known set does not have is new: the set is fetched again. @throws CallError */
export function keyFinder(issuer: string): JWTVerifyGetKey {
  return async (header, token) => {
    const set = await currentKeySet(issuer);
    try {
      return await set.findKey(header, token);
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_JWKS_NO_MATCHING_KEY") throw error;
      if (!running.has(issuer) && wasJustTried(set)) throw set.failure ?? error;
      return await (await refresh(issuer)).findKey(header, token);
    }
  };
}
