import * as z from "zod";
import { callJson } from "../calls/json-client";
import { keptAnswers } from "./kept-answers";
import type { Endpoints } from "./providers";

const httpUrl = z.url({ protocol: /^https?$/ });
const optionalUrl = httpUrl.optional().catch(undefined).optional(); // not needed for a sign-in

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
  /** The URL of its public keys; `null` if it names none, or an http URL although the issuer has https. */
  keySetUrl: string | null;
  /** The URL of its logout; `null` likewise. */
  logoutUrl: string | null;
}

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

const discovered = keptAnswers(discover);

/** @throws CallError */
export const discoverEndpoints = (issuer: string): Promise<Discovered> => discovered.current(issuer);
