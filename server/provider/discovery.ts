import * as z from "zod";
import { callJson } from "../calls/json-client";
import type { Endpoints } from "./providers";

const httpUrl = z.url({ protocol: /^https?$/ });
const optionalUrl = httpUrl.optional().catch(undefined).optional(); // a sign-in does without

/** The members of OpenID Connect Discovery 1.0, section 3, that are used. */
export const providerMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  userinfo_endpoint: httpUrl,
  jwks_uri: optionalUrl,
  end_session_endpoint: optionalUrl, // OpenID Connect RP-Initiated Logout 1.0, section 2.1
  authorization_response_iss_parameter_supported: z.boolean().optional(), // RFC 9207, section 3
});
export type ProviderMetadata = z.infer<typeof providerMetadata>;

export interface Discovered extends Endpoints {
  /** Whether every authorization response has an `iss` parameter (RFC 9207). */
  namesIssuer: boolean;
  /** Where its public keys are; `null` when it names none, or one that an https issuer must not have. */
  keySetUrl: string | null;
  /** Likewise. */
  logoutUrl: string | null;
}

const lifetime = 24 * 3_600_000; // ms
const pause = 60_000; // ms, between attempts to replace an old answer

interface Found {
  endpoints: Discovered;
  freshUntil: number;
}

const found = new Map<string, Found>();
const running = new Map<string, Promise<Discovered>>();

const isHttps = (url: string) => /^https:/i.test(url);

/** An https issuer sends neither a secret nor a token over http. */
const isEncrypted = (url: string, issuer: string) => isHttps(url) || !isHttps(issuer);

/** Section 4.3. */
function isTrustworthy(metadata: ProviderMetadata, issuer: string): boolean {
  const { authorization_endpoint, token_endpoint, userinfo_endpoint } = metadata;
  const endpoints = [authorization_endpoint, token_endpoint, userinfo_endpoint];
  return metadata.issuer === issuer && endpoints.every((url) => isEncrypted(url, issuer));
}

export const metadataUrl = (issuer: string) => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

async function discover(issuer: string): Promise<Discovered> {
  const metadata = await callJson(
    metadataUrl(issuer),
    { step: "discovery", method: "GET" },
    providerMetadata.refine((answer) => isTrustworthy(answer, issuer)),
  );
  const optional = (url = "") => (url && isEncrypted(url, issuer) ? url : null);
  return {
    authorizeUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    profileUrl: metadata.userinfo_endpoint,
    keySetUrl: optional(metadata.jwks_uri),
    logoutUrl: optional(metadata.end_session_endpoint),
    namesIssuer: metadata.authorization_response_iss_parameter_supported ?? false,
  };
}

async function refresh(issuer: string): Promise<Discovered> {
  try {
    const endpoints = await discover(issuer);
    found.set(issuer, { endpoints, freshUntil: Date.now() + lifetime });
    return endpoints;
  } catch (error) {
    const old = found.get(issuer);
    if (!old) throw error;
    found.set(issuer, { ...old, freshUntil: Date.now() + pause });
    return old.endpoints;
  }
}

/** Fetched once a day; where that fails, the last answer stays. Without one the next call fetches again. @throws CallError */
export function discoverEndpoints(issuer: string): Promise<Discovered> {
  const known = found.get(issuer);
  if (known && Date.now() < known.freshUntil) return Promise.resolve(known.endpoints);
  let endpoints = running.get(issuer);
  if (!endpoints) {
    endpoints = refresh(issuer).finally(() => running.delete(issuer));
    running.set(issuer, endpoints);
  }
  return endpoints;
}
