import { createHash } from "node:crypto";
import * as z from "zod";
import { callJson } from "../calls/json-client";
import { config, type IdentityProviderConfig } from "../config";
import { CallError, ExternalSignInError } from "../errors";
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

/**
 * The origin of the consent screen; that of the issuer for an OpenID Connect provider that is not discovered yet.
 * `null` while external sign-in is off.
 */
export function consentOrigin(): string | null {
  const { identityProvider: client } = config();
  if (!client) return null;
  const known =
    client.provider === "oidc"
      ? (discoveredEndpoints(client.issuer)?.authorizeUrl ?? client.issuer)
      : providers[client.provider].endpoints.authorizeUrl;
  return new URL(client.authorizeUrl ?? known).origin;
}

/** `state` and `codeVerifier` bind the provider's response to the browser that asked for it. */
export interface Attempt {
  redirectUri: string;
  state: string;
  /** Not used without `IDP_PKCE`. */
  codeVerifier: string;
}

/** What the provider asks a person who is signed in there: which account to use, or to sign in again. */
export type Asks = "account" | "sign_in";

/** The URL of the consent screen. @throws CallError when discovery fails */
export async function authorizationUrl(attempt: Attempt, asks: Asks | null): Promise<string> {
  const { redirectUri, state, codeVerifier } = attempt;
  const client = configured();
  const { scope, prompt } = providers[client.provider];
  const request: AuthorizationRequest = {
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: client.scope ?? scope,
    state,
    ...(client.pkce && { code_challenge: codeChallenge(codeVerifier), code_challenge_method: "S256" }),
  };
  const url = new URL((await findEndpoints()).authorizeUrl);
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
  const asked = { account: prompt, sign_in: entryOf(client).freshPrompt };
  if (asks && asked[asks]) url.searchParams.set("prompt", asked[asks]);
  return url.href;
}

/** RFC 7636, section 4.2. */
const codeChallenge = (codeVerifier: string) => createHash("sha256").update(codeVerifier).digest("base64url");

/** OpenID Connect RP-Initiated Logout 1.0, section 2; `null` without the provider's endpoint, or its answer. */
export async function logoutUrl(): Promise<string | null> {
  const { provider, issuer, clientId } = configured();
  const found = provider === "oidc" ? await discoverEndpoints(issuer).catch(() => null) : null;
  if (!found?.logoutUrl) return null;
  const url = new URL(found.logoutUrl);
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("post_logout_redirect_uri", `${config().appUrl}/login?notice=signed_out`);
  return url.href;
}

/** The provider's endpoint, once it is discovered. */
export function knownLogoutUrl(): string | null {
  const { provider, issuer } = configured();
  return (provider === "oidc" && discoveredEndpoints(issuer)?.logoutUrl) || null;
}

/**
 * Refuses a response of another issuer than the configured one: a mix-up attack (RFC 9700, section 4.4; RFC 9207,
 * section 2.4). @throws ExternalSignInError, CallError
 */
export async function verifyIssuer(iss: string | null): Promise<void> {
  if (!(await isConfiguredIssuer(iss))) throw new ExternalSignInError("issuer");
}

async function isConfiguredIssuer(iss: string | null): Promise<boolean> {
  const client = configured();
  // `IDP_AUTHORIZE_URL` may name another provider: the table's issuer does not count with it.
  const known = client.issuer ?? (client.authorizeUrl ? null : providers[client.provider].issuer);
  if (iss !== null) return known === null || iss === known;
  if (client.provider !== "oidc" || namesAllEndpoints(client)) return true;
  return !(await discoverEndpoints(client.issuer)).namesIssuer;
}

/** RFC 6749, section 5.2. GitHub answers it with status 200. */
const tokenError = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) }).transform(({ error }) => error);

const tokenAnswer = z.union([tokenResponse, tokenError]);

type AuthorizationCode = Omit<Attempt, "state"> & { code: string };

/** Exchanges the authorization code for an access token. @throws CallError */
export async function exchangeCode(authorization: AuthorizationCode): Promise<string> {
  const answer = await requestToken(authorization, tokenAnswer);
  if (typeof answer !== "string") return answer.access_token;
  throw Object.assign(new CallError("unexpected", answer), { step: "exchange" });
}

/** The code is wrong, was used or is too old; the client is right: RFC 6749, section 5.2, and GitHub's own word. */
export const isWrongCode = (code: unknown) => code === "invalid_grant" || code === "bad_verification_code";

/** Sends a code that nobody issued: a provider checks the credentials first. @throws CallError without an error code */
export async function tokenErrorFor(redirectUri: string): Promise<string> {
  const authorization = { code: "latchkey-doctor", redirectUri, codeVerifier: "0".repeat(64) };
  try {
    return await requestToken(authorization, tokenError);
  } catch (error) {
    if (error instanceof CallError && error.reason !== "unreachable" && error.code) return String(error.code);
    throw error;
  }
}

async function requestToken<T>(authorization: AuthorizationCode, answer: z.ZodType<T>): Promise<T> {
  const { code, redirectUri, codeVerifier } = authorization;
  const { clientId, clientSecret, pkce } = configured();
  const request: TokenRequest = {
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
    grant_type: "authorization_code",
    ...(pkce && { code_verifier: codeVerifier }),
  };
  const { tokenUrl } = await findEndpoints();
  const body = new URLSearchParams({ ...request }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return callJson(tokenUrl, { step: "exchange", method: "POST", headers, body, errorCode: tokenError }, answer);
}

/** @throws CallError */
export async function fetchProfile(accessToken: string): Promise<Profile> {
  const { provider, groupsClaim: claim } = configured();
  const { profileUrl } = await findEndpoints();
  const { profile, emails }: Provider = providers[provider];
  const call = { step: "profile", method: "GET", headers: { authorization: `Bearer ${accessToken}` } } as const;
  const answer = await callJson(profileUrl, call, claim ? profile.and(groupsClaim(claim)) : profile);
  if (!emails) return answer;
  return { ...answer, ...(await callJson(`${profileUrl}${emails.path}`, call, emails.email)) };
}

/** The endpoints of the provider's entry or of discovery; settings override them. @throws CallError */
export async function findEndpoints(): Promise<Endpoints> {
  const client = configured();
  const { authorizeUrl, tokenUrl, profileUrl } = client;
  const named = Object.entries({ authorizeUrl, tokenUrl, profileUrl }).filter(([, url]) => url !== null);
  const discovers = client.provider === "oidc" && !namesAllEndpoints(client);
  const known = discovers ? await discoverEndpoints(client.issuer) : providers[client.provider].endpoints;
  return { ...known, ...Object.fromEntries(named) } as Endpoints;
}

function configured(): IdentityProviderConfig {
  const { identityProvider } = config();
  if (!identityProvider) throw new ExternalSignInError("off");
  return identityProvider;
}

const namesAllEndpoints = ({ authorizeUrl, tokenUrl, profileUrl }: IdentityProviderConfig) =>
  authorizeUrl !== null && tokenUrl !== null && profileUrl !== null;
