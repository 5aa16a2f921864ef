import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import * as z from "zod";
import { callJson } from "../calls/json-client";
import { CallError } from "../errors";
import { discoverEndpoints, issuerCache } from "./discovery";

/**
 * Finds the issuer's key for a token. If the known set does not have it, fetches the set again. @throws CallError also
 * where that may not happen yet: the key may be new, and a provider takes a 400 as final
 */
export function keyFinder(issuer: string): JWTVerifyGetKey {
  return async (header, token) => {
    const asked = Date.now();
    const findKey = await keySets.current(issuer);
    try {
      return await findKey(header, token);
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_JWKS_NO_MATCHING_KEY") throw error;
      const findNewKey = await keySets.newest(issuer, asked);
      if (!findNewKey) throw new CallError("unexpected");
      return findNewKey(header, token);
    }
  };
}

/** RFC 7517, section 5. */
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

const longest = 5_500; // ms for discovery and the key set together
const shortest = 500; // ms for the key set where discovery took its five seconds

const keySets = issuerCache(async (issuer): Promise<JWTVerifyGetKey> => {
  const start = Date.now();
  const { keySetUrl } = await discoverEndpoints(issuer);
  if (keySetUrl === null) throw new CallError("unexpected");
  const deadline = Math.max(longest - (Date.now() - start), shortest);
  const keys = await callJson(keySetUrl, { method: "GET", deadline }, keySet);
  const { createLocalJWKSet } = await import("jose");
  return createLocalJWKSet(keys as JSONWebKeySet);
});
