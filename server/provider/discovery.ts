import * as z from "zod";
import { callJson } from "../calls/json-client";
import { keptAnswers } from "./kept-answers";

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

async function discover(issuer: string) {
  const metadata = await callJson(
    metadataUrl(issuer),
    { step: "discovery", method: "GET" },
    providerMetadata.refine((answer) => isTrustworthy(answer, issuer)),
  );
  /** `null` for an http URL, too, if the issuer has https. */
  const optional = (url = "") => (url && isEncrypted(url, issuer) ? url : null);
  return {
    authorizeUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    profileUrl: metadata.userinfo_endpoint,
    keySetUrl: optional(metadata.jwks_uri),
    logoutUrl: optional(metadata.end_session_endpoint),
    /** Whether every authorization response has an `iss` parameter (RFC 9207). */
    namesIssuer: metadata.authorization_response_iss_parameter_supported ?? false,
  };
}

/** @throws CallError */
export const { current: discoverEndpoints, known: discoveredEndpoints } = keptAnswers(discover);
