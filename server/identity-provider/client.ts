import { createHash } from "node:crypto";
import * as z from "zod";
import { CallError, callJson } from "../http/json-client";
import type { IdentityProviderConfig } from "../settings/identity-provider";
import { discoverEndpoints } from "./discovery";
import { type Endpoints, type Profile, type Provider, providers } from "./providers";

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

/**
 * RFC 6749, section 4.1.3, with the client's credentials in the body (section 2.3.1): exactly these five fields. With
 * `IDP_PKCE` a sixth, RFC 7636, section 4.5.
 */
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

/** RFC 6749, section 5.2. */
const tokenError = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) }).transform(({ error }) => error);

const formType = "application/x-www-form-urlencoded";

export interface AuthorizationCode {
  code: string;
  redirectUri: string;
  /** `null` without PKCE. */
  codeVerifier: string | null;
}

/** RFC 7636, section 4.2. */
function codeChallenge(codeVerifier: string): string {
  return createHash("sha256").update(codeVerifier).digest("base64url");
}

async function knownEndpoints(config: IdentityProviderConfig): Promise<Endpoints> {
  return config.provider === "oidc" ? discoverEndpoints(config.issuer) : providers[config.provider].endpoints;
}

/** The configured provider: its entry of the table, and the settings that override it. */
export class IdentityProvider {
  readonly #config: IdentityProviderConfig;
  readonly #provider: Provider;

  constructor(config: IdentityProviderConfig) {
    this.#config = config;
    this.#provider = providers[config.provider];
  }

  /** The provider's name for people. */
  get label(): string | null {
    return this.#provider.label;
  }

  /**
   * The origin of the consent screen, without discovery: an OpenID Connect provider's is taken to be its issuer's.
   * `IDP_AUTHORIZE_URL` names another one.
   */
  get consentOrigin(): string {
    const { authorizeUrl } = this.#config;
    if (authorizeUrl) return new URL(authorizeUrl).origin;
    if (this.#config.provider === "oidc") return new URL(this.#config.issuer).origin;
    return new URL(providers[this.#config.provider].endpoints.authorizeUrl).origin;
  }

  /**
   * Where the provider's endpoints are.
   *
   * @throws CallError when discovery fails
   */
  async endpoints(): Promise<Endpoints> {
    const { authorizeUrl, tokenUrl, profileUrl } = this.#config;
    if (authorizeUrl && tokenUrl && profileUrl) return { authorizeUrl, tokenUrl, profileUrl };
    const known = await knownEndpoints(this.#config);
    return {
      authorizeUrl: authorizeUrl ?? known.authorizeUrl,
      tokenUrl: tokenUrl ?? known.tokenUrl,
      profileUrl: profileUrl ?? known.profileUrl,
    };
  }

  /**
   * The address of the consent screen.
   *
   * @throws CallError when discovery fails
   */
  async authorizationUrl(redirectUri: string, state: string, codeVerifier: string | null): Promise<string> {
    const request: AuthorizationRequest = {
      client_id: this.#config.clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: this.#config.scope ?? this.#provider.scope,
      state,
      ...(codeVerifier !== null && { code_challenge: codeChallenge(codeVerifier), code_challenge_method: "S256" }),
    };
    const url = new URL((await this.endpoints()).authorizeUrl);
    for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Whether an authorization response with this `iss` comes from the configured provider (RFC 9207, section 2.4).
   * `IDP_AUTHORIZE_URL` may name another provider, so the table's issuer does not count with it.
   *
   * @throws CallError when discovery fails
   */
  async isIssuer(iss: string | null): Promise<boolean> {
    const { issuer, authorizeUrl, tokenUrl, profileUrl } = this.#config;
    const known = issuer ?? (authorizeUrl ? null : this.#provider.issuer);
    if (iss !== null) return known === null || iss === known;
    if (this.#config.provider !== "oidc" || (authorizeUrl && tokenUrl && profileUrl)) return true;
    return !(await discoverEndpoints(this.#config.issuer)).namesIssuer;
  }

  /**
   * Exchanges the authorization code for an access token.
   *
   * @throws CallError
   */
  async exchangeCode(code: AuthorizationCode): Promise<string> {
    return (await this.#requestToken(code, tokenResponse)).access_token;
  }

  /**
   * The error with which the token endpoint refuses a code that no provider has issued. It names wrong credentials of
   * the client before it names the wrong code.
   *
   * @throws CallError when the answer has no error code
   */
  async tokenError(redirectUri: string): Promise<string> {
    const codeVerifier = this.#config.pkce ? "0".repeat(64) : null;
    try {
      return await this.#requestToken({ code: "latchkey-doctor", redirectUri, codeVerifier }, tokenError, tokenError);
    } catch (error) {
      if (error instanceof CallError && error.reason !== "unreachable" && error.code) return String(error.code);
      throw error;
    }
  }

  async #requestToken<T>(
    { code, redirectUri, codeVerifier }: AuthorizationCode,
    answer: z.ZodType<T>,
    errorCode?: z.ZodType<string>,
  ): Promise<T> {
    const request: TokenRequest = {
      code,
      client_id: this.#config.clientId,
      client_secret: this.#config.clientSecret,
      redirect_uri: redirectUri,
      grant_type: "authorization_code",
      ...(codeVerifier !== null && { code_verifier: codeVerifier }),
    };
    const { tokenUrl } = await this.endpoints();
    const body = new URLSearchParams({ ...request }).toString();
    const call = {
      method: "POST",
      headers: { "content-type": formType },
      body,
      ...(errorCode && { errorCode }),
    } as const;
    return callJson(tokenUrl, call, answer);
  }

  /**
   * The profile of the access token's owner.
   *
   * @throws CallError
   */
  async fetchProfile(accessToken: string): Promise<Profile> {
    const { profileUrl } = await this.endpoints();
    const { profile, emails } = this.#provider;
    const call = { method: "GET", headers: { authorization: `Bearer ${accessToken}` } } as const;
    const answer = await callJson(profileUrl, call, profile);
    if (!emails) return answer;
    return { ...answer, ...(await callJson(`${profileUrl}${emails.path}`, call, emails.email)) };
  }
}
