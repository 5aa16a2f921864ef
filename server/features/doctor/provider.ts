import * as z from "zod";
import type { Config } from "../../config";
import { CallError, callJson } from "../../http/json-client";
import { IdentityProvider } from "../../identity-provider/client";
import { type Check, checksOf } from "./check";

const { ok, warn, fail } = checksOf("provider");

/** RFC 6749, section 5.2, and GitHub's own. */
const wrongCredentials = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];
const wrongCode = ["invalid_grant", "bad_verification_code"];

const causeOf = ({ reason, code }: CallError) => (code === undefined ? reason : `${reason}, ${code}`);

/** No server answers, or it does not have this endpoint. Any other status is an answer to an incomplete request. */
const isSilence = ({ reason }: CallError) => /^(?:timeout|unreachable|status (?:404|5\d\d))$/.test(reason);

/** Why an endpoint does not answer; `null` when it does. */
async function silence(url: string): Promise<string | null> {
  try {
    await callJson(url, { method: "GET" }, z.unknown());
    return null;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return isSilence(error) ? causeOf(error) : null;
  }
}

const refused = (found: string) => fail(found, "copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from the provider again");

const tellsNothing = (found: string) => warn(`${found}, which tells nothing of the secret`, "try a sign-in");

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
      `${name}: discovery at ${identityProvider.issuer} failed (${causeOf(error)})`,
      "correct IDP_ISSUER: it is exactly the issuer of the provider's discovery document",
    );
  }
  try {
    const error = await provider.tokenError(redirectUri);
    if (wrongCode.includes(error)) return ok(`${name}: the client id and secret are accepted`);
    if (wrongCredentials.includes(error)) {
      return refused(`${name}: the provider refuses the client's credentials (${error})`);
    }
    if (error === "redirect_uri_mismatch") {
      return fail(`${name}: the redirect URI is not registered`, `register ${redirectUri} with the provider`);
    }
    return tellsNothing(`${name}: the token endpoint answers ${error}`);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.reason === "status 401") return refused(`${name}: the provider refuses the client's credentials`);
    if (isSilence(error)) {
      return fail(
        `${name}: the token endpoint does not answer (${causeOf(error)})`,
        "correct IDP_TOKEN_URL, or allow outgoing https",
      );
    }
    return tellsNothing(`${name}: the token endpoint answers ${causeOf(error)}`);
  }
}
