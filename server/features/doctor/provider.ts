import * as z from "zod";
import type { Config } from "../../config";
import { CallError, callJson } from "../../http/json-client";
import { IdentityProvider } from "../../identity-provider/client";
import { type Check, checksOf } from "./check";

const { ok, warn, fail } = checksOf("provider");

/** RFC 6749, section 5.2, and GitHub's own. */
const wrongCredentials = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];
const wrongCode = ["invalid_grant", "bad_verification_code"];

const describe = ({ reason, code }: CallError) => (code === undefined ? reason : `${reason}, ${code}`);

/** Why an endpoint does not answer; `null` when it does, whatever it answers to a request without parameters. */
async function silence(url: string): Promise<string | null> {
  try {
    await callJson(url, { method: "GET" }, z.unknown());
    return null;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return /^(?:timeout|unreachable|status (?:404|5\d\d))$/.test(error.reason) ? describe(error) : null;
  }
}

/** Whether the identity provider is reached and knows the client, as far as it tells. */
export async function checkProvider({ identityProvider, appUrl }: Config): Promise<Check> {
  if (!identityProvider) return ok("off");
  const provider = new IdentityProvider(identityProvider);
  const redirectUri = `${appUrl}/auth/idp/callback`;
  const name = identityProvider.provider;
  try {
    const { authorizeUrl, profileUrl } = await provider.endpoints();
    for (const url of [authorizeUrl, profileUrl]) {
      const reason = await silence(url);
      if (reason)
        return fail(`${name}: ${url} does not answer (${reason})`, "correct the endpoint, or allow outgoing https");
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return fail(
      `${name}: discovery at ${identityProvider.issuer} failed (${describe(error)})`,
      "correct IDP_ISSUER: it is exactly the issuer of the provider's discovery document",
    );
  }
  try {
    const error = await provider.tokenError(redirectUri);
    if (wrongCode.includes(error)) return ok(`${name}: the client id and secret are accepted`);
    if (wrongCredentials.includes(error)) {
      return fail(
        `${name}: the provider refuses the client's credentials (${error})`,
        "copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again",
      );
    }
    if (error === "redirect_uri_mismatch") {
      return fail(`${name}: the redirect URI is not registered`, `register ${redirectUri} with the provider`);
    }
    return warn(`${name}: the token endpoint answers ${error}, which tells nothing of the secret`, "try a sign-in");
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const reason = describe(error);
    if (error.reason === "status 401") {
      return fail(
        `${name}: the provider refuses the client's credentials`,
        "copy IDP_CLIENT_ID and IDP_CLIENT_SECRET again",
      );
    }
    if (/^(?:timeout|unreachable|status (?:404|5\d\d))$/.test(error.reason)) {
      return fail(
        `${name}: the token endpoint does not answer (${reason})`,
        "correct IDP_TOKEN_URL, or allow outgoing https",
      );
    }
    return warn(`${name}: the token endpoint answers ${reason}, which tells nothing of the secret`, "try a sign-in");
  }
}
