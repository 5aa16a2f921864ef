import * as z from "zod";
import { callJson } from "../calls/json-client";

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

/**
 * The issuer's endpoints (OpenID Connect Discovery 1.0): fetched once a day, and refused if they are not the issuer's,
 * or not encrypted. @throws CallError
 */
export const { current: discoverEndpoints, known: discoveredEndpoints } = issuerCache(discover);

const lifetime = 24 * 3_600_000; // ms
const pause = 10_000; // ms between two attempts to replace an answer: clients must not cause more calls

interface CacheEntry<Answer> {
  answer: Answer;
  fetchedAt: number;
  triedAt: number;
}

/** A cache of issuers' answers. Simultaneous callers share one call. */
export function issuerCache<Answer>(fetchAnswer: (issuer: string) => Promise<Answer>) {
  const entries = new Map<string, CacheEntry<Answer>>();
  const running = new Map<string, Promise<Answer>>();

  async function replace(issuer: string): Promise<Answer> {
    try {
      const answer = await fetchAnswer(issuer);
      entries.set(issuer, { answer, fetchedAt: Date.now(), triedAt: Date.now() });
      return answer;
    } catch (failure) {
      const old = entries.get(issuer);
      if (old) entries.set(issuer, { ...old, triedAt: Date.now() });
      throw failure;
    } finally {
      running.delete(issuer);
    }
  }

  function refresh(issuer: string): Promise<Answer> {
    const answer = running.get(issuer) ?? replace(issuer);
    running.set(issuer, answer);
    return answer;
  }

  const wasJustTried = ({ triedAt }: CacheEntry<Answer>) => Date.now() - triedAt < pause;

  return {
    known: (issuer: string): Answer | undefined => entries.get(issuer)?.answer,
    /** Fetched once a day. If that fails, the last answer stays. @throws Error if there is none */
    async current(issuer: string): Promise<Answer> {
      const old = entries.get(issuer);
      if (!old) return refresh(issuer);
      if (Date.now() - old.fetchedAt < lifetime || wasJustTried(old)) return old.answer;
      return refresh(issuer).catch(() => old.answer);
    },
    /** Fetched at `since` or later; `null` if it may not be fetched again yet. @throws Error if that failed */
    async newest(issuer: string, since: number): Promise<Answer | null> {
      const old = entries.get(issuer);
      if (old && old.fetchedAt >= since) return old.answer;
      return !old || running.has(issuer) || !wasJustTried(old) ? refresh(issuer) : null;
    },
  };
}

async function discover(issuer: string) {
  const metadata = await callJson(
    metadataUrl(issuer),
    { step: "discovery", method: "GET" },
    providerMetadata.refine((answer) => isTrustworthy(answer, issuer)),
  );
  /** `null` for an http URL, too, if the issuer has https. */
  const optional = (url = "") => (url && isAsSafeAs(url, issuer) ? url : null);
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

export const metadataUrl = (issuer: string) => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

export type ProviderMetadata = z.infer<typeof providerMetadata>;

/** Section 4.3. */
function isTrustworthy(metadata: ProviderMetadata, issuer: string): boolean {
  const { authorization_endpoint, token_endpoint, userinfo_endpoint } = metadata;
  const endpoints = [authorization_endpoint, token_endpoint, userinfo_endpoint];
  return metadata.issuer === issuer && endpoints.every((url) => isAsSafeAs(url, issuer));
}

/** An https issuer sends neither a secret nor a token over http. */
const isAsSafeAs = (url: string, issuer: string) => isHttpsUrl(url) || !isHttpsUrl(issuer);

const isHttpsUrl = (url: string) => /^https:/i.test(url);
