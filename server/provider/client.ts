import { createHash } from "node:crypto";
import * as z from "zod";
import { CallError, callJson } from "../calls/json-client";
import type { IdentityProviderConfig } from "../config";
import { discoverEndpoints, discoveredEndpoints } from "./discovery";
import { type Endpoints, entryOf, groupsClaim, type Profile, type Provider, providers } from "./providers";

/** RFC 6749, section 4.1.1; with `IDP_PKCE`, RFC 7636, section 4.3. */
export interface AuthorizationRequest {
  client_id: string;
  redirect_uri: string;
  response_type: "code";
  scope: string;
  state: string;
  code_challenge?: string;
  code_challenge_method?: "S256";
}

/** RFC 6749, sections 4.1.3 and 2.3.1: exactly these five fields; with `IDP_PKCE` a sixth, RFC 7636, section 4.5. */
export interface TokenRequest {
  code: string;
  client_id: string;
  client_secret: string;
  redirect_uri: string;
  grant_type: "authorization_code";
  code_verifier?: string;
}

/** RFC 6749, section 5.1; a missing `token_type` counts as bearer. GitHub answers an error with status 200. */
export const tokenResponse = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/), // RFC 6750, section 2.1: it goes into a header
  token_type: z
    .string()
    .regex(/^bearer$/i)
    .optional(),
  error: z.undefined().optional(),
});
export type TokenResponse = z.infer<typeof tokenResponse>;

/** RFC 6749, section 5.2. GitHub answers it with status 200. */
const tokenError = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) }).transform(({ error }) => error);

const tokenAnswer = z.union([tokenResponse, tokenError]);

/** `state` and `codeVerifier` bind the provider's response to the browser that asked for it. */
export interface Attempt {
  redirectUri: string;
  state: string;
  /** Not used without `IDP_PKCE`. */
  codeVerifier: string;
}

export type AuthorizationCode = Omit<Attempt, "state"> & { code: string };

/** RFC 7636, section 4.2. */
const codeChallenge = (codeVerifier: string) => createHash("sha256").update(codeVerifier).digest("base64url");

/** The origin of the consent screen, without discovery: for an OpenID Connect provider, the origin of its issuer. */
export function consentOrigin(config: IdentityProviderConfig): string {
  const known = config.provider === "oidc" ? config.issuer : providers[config.provider].endpoints.authorizeUrl;
  return new URL(config.authorizeUrl ?? known).origin;
}

const namesAllEndpoints = ({ authorizeUrl, tokenUrl, profileUrl }: IdentityProviderConfig) =>
  authorizeUrl !== null && tokenUrl !== null && profileUrl !== null;

/** The endpoints of the provider's entry or of discovery; settings override them. @throws CallError */
export async function endpointsOf(config: IdentityProviderConfig): Promise<Endpoints> {
  const { authorizeUrl, tokenUrl, profileUrl } = config;
  const named = Object.entries({ authorizeUrl, tokenUrl, profileUrl }).filter(([, url]) => url !== null);
  const discovers = config.provider === "oidc" && !namesAllEndpoints(config);
  const known = discovers ? await discoverEndpoints(config.issuer) : providers[config.provider].endpoints;
  return { ...known, ...Object.fromEntries(named) } as Endpoints;
}

/** What the provider asks a person who is signed in there: which account to use, or to sign in again. */
export type Asks = "account" | "sign_in";

export async function authorizationUrl(
  config: IdentityProviderConfig,
  { redirectUri, state, codeVerifier }: Attempt,
  asks: Asks | null,
): Promise<string> {
  const { scope, prompt } = providers[config.provider];
  const request: AuthorizationRequest = {
    client_id: config.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: config.scope ?? scope,
    state,
    ...(config.pkce && { code_challenge: codeChallenge(codeVerifier), code_challenge_method: "S256" }),
  };
  const url = new URL((await endpointsOf(config)).authorizeUrl);
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
  const asked = { account: prompt, sign_in: entryOf(config).freshPrompt };
  if (asks && asked[asks]) url.searchParams.set("prompt", asked[asks]);
  return url.href;
}

/** OpenID Connect RP-Initiated Logout 1.0, section 2; `null` without the provider's endpoint. */
export async function logoutUrl(config: IdentityProviderConfig, redirectUri: string): Promise<string | null> {
  const found = config.provider === "oidc" ? await discoverEndpoints(config.issuer).catch(() => null) : null;
  if (!found?.logoutUrl) return null;
  const url = new URL(found.logoutUrl);
  url.searchParams.set("client_id", config.clientId);
  url.searchParams.set("post_logout_redirect_uri", redirectUri);
  return url.href;
}

/** The provider's endpoint, once it is discovered. */
export const knownLogoutUrl = ({ provider, issuer }: IdentityProviderConfig): string | null =>
  (provider === "oidc" && discoveredEndpoints(issuer)?.logoutUrl) || null;

/**
 * Whether an authorization response with this `iss` comes from the configured provider (RFC 9207, section 2.4).
 * `IDP_AUTHORIZE_URL` may name another provider, so the table's issuer does not count with it. @throws CallError
 */
export async function isIssuer(config: IdentityProviderConfig, iss: string | null): Promise<boolean> {
  const known = config.issuer ?? (config.authorizeUrl ? null : providers[config.provider].issuer);
  if (iss !== null) return known === null || iss === known;
  if (config.provider !== "oidc" || namesAllEndpoints(config)) return true;
  return !(await discoverEndpoints(config.issuer)).namesIssuer;
}

async function requestToken<T>(
  config: IdentityProviderConfig,
  { code, redirectUri, codeVerifier }: AuthorizationCode,
  answer: z.ZodType<T>,
): Promise<T> {
  const request: TokenRequest = {
    code,
    client_id: config.clientId,
    client_secret: config.clientSecret,
    redirect_uri: redirectUri,
    grant_type: "authorization_code",
    ...(config.pkce && { code_verifier: codeVerifier }),
  };
  const { tokenUrl } = await endpointsOf(config);
  const body = new URLSearchParams({ ...request }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return callJson(tokenUrl, { step: "exchange", method: "POST", headers, body, errorCode: tokenError }, answer);
}

/** Exchanges the authorization code for an access token. @throws CallError */
export async function exchangeCode(config: IdentityProviderConfig, code: AuthorizationCode): Promise<string> {
  const answer = await requestToken(config, code, tokenAnswer);
  if (typeof answer !== "string") return answer.access_token;
  throw Object.assign(new CallError("unexpected", answer), { step: "exchange" });
}

/** The code was used, or is too old: RFC 6749, section 5.2, and GitHub's own word. */
export const isUsedCode = ({ code }: CallError) => code === "invalid_grant" || code === "bad_verification_code";

/** Sends a code that nobody issued: a provider checks the credentials first. @throws CallError without an error code */
export async function tokenErrorOf(config: IdentityProviderConfig, redirectUri: string): Promise<string> {
  const code = { code: "latchkey-doctor", redirectUri, codeVerifier: "0".repeat(64) };
  try {
    return await requestToken(config, code, tokenError);
  } catch (error) {
    if (error instanceof CallError && error.reason !== "unreachable" && error.code) return String(error.code);
    throw error;
  }
}

export async function fetchProfile(config: IdentityProviderConfig, accessToken: string): Promise<Profile> {
  const { profileUrl } = await endpointsOf(config);
  const { profile, emails }: Provider = providers[config.provider];
  const call = { step: "profile", method: "GET", headers: { authorization: `Bearer ${accessToken}` } } as const;
  const { groupsClaim: claim } = config;
  const answer = await callJson(profileUrl, call, claim ? profile.and(groupsClaim(claim)) : profile);
  if (!emails) return answer;
  return { ...answer, ...(await callJson(`${profileUrl}${emails.path}`, call, emails.email)) };
}
