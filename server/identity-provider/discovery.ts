import * as z from "zod";
import { callJson } from "../http/json-client";
import type { Endpoints } from "./providers";

const httpUrl = z.url({ protocol: /^https?$/ });

/** The members of OpenID Connect Discovery 1.0, section 3, that are used. */
export const providerMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  userinfo_endpoint: httpUrl,
  authorization_response_iss_parameter_supported: z.boolean().optional(), // RFC 9207, section 3
});
export type ProviderMetadata = z.infer<typeof providerMetadata>;

export interface Discovered extends Endpoints {
  /** Whether every authorization response has an `iss` parameter (RFC 9207). */
  namesIssuer: boolean;
}

const found = new Map<string, Promise<Discovered>>();

async function discover(issuer: string): Promise<Discovered> {
  const metadata = await callJson(
    `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    { method: "GET" },
    providerMetadata.refine((answer) => answer.issuer === issuer), // section 4.3
  );
  return {
    authorizeUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    profileUrl: metadata.userinfo_endpoint,
    namesIssuer: metadata.authorization_response_iss_parameter_supported ?? false,
  };
}

/**
 * The endpoints of an issuer. They are fetched once; after a failure the next call fetches them again.
 *
 * @throws CallError
 */
export function discoverEndpoints(issuer: string): Promise<Discovered> {
  let endpoints = found.get(issuer);
  if (!endpoints) {
    endpoints = discover(issuer);
    found.set(issuer, endpoints);
    endpoints.catch(() => found.delete(issuer));
  }
  return endpoints;
}
