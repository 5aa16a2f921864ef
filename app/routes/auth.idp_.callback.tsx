import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import {
  ExternalSignInError,
  exchangeCode,
  fetchProfile,
  logExternalSignInFailure,
  signInToAccount,
  verifyIssuer,
} from "#server/features/external-sign-in.server";
import { clearedAttemptCookies, codeVerifierOf, isOwnState, redirectUri } from "~/oauth-attempt.server";
import { methodNotAllowed } from "~/responses";
import { browserOf, signIn } from "~/session.server";

/** RFC 6749, section 3.1: no parameter comes twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return ["state", "iss", "error", "code"].some((name) => parameters.getAll(name).length > 1);
}

export async function loader({ request }: LoaderFunctionArgs) {
  const { searchParams: response } = new URL(request.url);
  const headers = clearedAttemptCookies(request);
  try {
    if (isRepeated(response)) throw new ExternalSignInError("repeated_parameter");
    if (!isOwnState(request, response.get("state"))) throw new ExternalSignInError("state");
    await verifyIssuer(response.get("iss"));
    if (response.has("error")) throw new ExternalSignInError("denied");
    const code = response.get("code");
    if (!code) throw new ExternalSignInError("no_code");

    const accessToken = await exchangeCode({
      code,
      redirectUri: redirectUri(request),
      codeVerifier: codeVerifierOf(request),
    });
    const profile = await fetchProfile(accessToken);
    const session = await signInToAccount(profile, browserOf(request));
    return signIn(request, session, headers);
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/login?notice=idp_failed", { headers });
  }
}

export function action() {
  throw methodNotAllowed("GET, HEAD");
}

/** Only for the page of a refused method. */
export default function Callback() {
  return null;
}
