import * as z from "zod";
import { callJson } from "../../calls/json-client";
import type { Config } from "../../config";
import { findEndpoints, isWrongCode, tokenErrorFor } from "../../provider/client";
import { metadataUrl } from "../../provider/discovery";
import { answerOf, type Check, checksOf, type Findings, findingOf } from "./check";

const { ok, warn, fail } = checksOf("provider");

/** No server answers, or it does not have this endpoint. Any other status is an answer to an incomplete request. */
const silence = /^(?:timeout|unreachable|status (?:404|5\d\d))(?:,|$)/;

const tokenFindings: Findings = [
  [
    /^(?:invalid_client|unauthorized_client|incorrect_client_credentials|status 401.*)$/,
    "the provider refuses the client's credentials ({answer})",
    "copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again",
  ],
  [/^redirect_uri_mismatch$/, "the redirect URI is not registered", "register {redirectUri} with the provider"],
  [silence, "the token endpoint does not answer ({answer})", "correct IDP_TOKEN_URL, or allow outgoing https"],
];

const names = z.array(z.string()).optional().catch(undefined);
const text = z.string().optional().catch(undefined);
const supported = z.object({
  claims_supported: names,
  token_endpoint_auth_methods_supported: names,
  jwks_uri: text,
  end_session_endpoint: text,
  backchannel_logout_supported: z.boolean().optional().catch(undefined),
});

const basicAlone = "the provider takes client_secret_basic alone";
const noKeySet = "the provider has no jwks_uri: its back-channel logout cannot be verified";
const noLogout = "the provider has no end_session_endpoint: IDP_LOGOUT does nothing";
const unverified = "the provider has no claim email_verified: nobody new can sign in";

/** Whether the identity provider is reached and knows the client, as far as it tells. */
export async function checkProvider({ identityProvider, appUrl }: Config): Promise<Check> {
  if (!identityProvider) return ok("off");
  const redirectUri = `${appUrl}/auth/idp/callback`;
  const name = identityProvider.provider;
  const endpoints = await answerOf(findEndpoints());
  if (typeof endpoints === "string") {
    return fail(
      `${name}: discovery at ${identityProvider.issuer} failed (${endpoints})`,
      "correct IDP_ISSUER: it is exactly the issuer of the provider's discovery document",
    );
  }
  for (const url of [endpoints.authorizeUrl, endpoints.profileUrl]) {
    const anything = z.unknown().transform(() => "answers");
    const answer = await answerOf(callJson(url, { method: "GET" }, anything));
    if (silence.test(answer)) {
      return fail(`${name}: ${url} does not answer (${answer})`, "correct the endpoint, or allow outgoing https");
    }
  }
  const answer = await answerOf(tokenErrorFor(redirectUri));
  const { issuer, provider, trustEmail, logout } = identityProvider;
  const metadata = provider === "oidc" && (await answerOf(callJson(metadataUrl(issuer), { method: "GET" }, supported)));
  const known = typeof metadata === "object" ? metadata : {};
  if (isWrongCode(answer)) {
    if (!trustEmail && known.claims_supported?.includes("email_verified") === false) {
      return warn(`${name}: ${unverified}`, "add the claim at the provider, or set IDP_TRUST_EMAIL if it is your own");
    }
    if (typeof metadata === "object" && !known.jwks_uri) {
      return warn(`${name}: ${noKeySet}`, "end the sessions of people who leave with `latchkey user suspend`");
    }
    if (logout && !known.end_session_endpoint) return warn(`${name}: ${noLogout}`, "set IDP_LOGOUT=off");
    const trusted = trustEmail ? "; every address that it states counts as verified (IDP_TRUST_EMAIL)" : "";
    const supports = (has: unknown, what: string) =>
      provider === "oidc" ? `; ${what}: ${has ? "" : "not "}supported` : "";
    const backChannel = supports(known.backchannel_logout_supported, "back-channel logout");
    const initiated = supports(known.end_session_endpoint, "IDP_LOGOUT");
    return ok(`${name}: the client id and secret are accepted${trusted}${backChannel}${initiated}`);
  }
  if (known.token_endpoint_auth_methods_supported?.join() === "client_secret_basic") {
    return fail(`${name}: ${basicAlone} (${answer})`, "allow client_secret_post for this client");
  }
  const [found, fix] = findingOf(tokenFindings, answer, { answer, redirectUri });
  if (fix) return fail(`${name}: ${found}`, fix);
  return warn(`${name}: the token endpoint answers ${answer}, which tells nothing of the secret`, "try a sign-in");
}
