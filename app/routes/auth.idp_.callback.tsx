import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { connectProvider } from "#server/features/owner/provider-link.server";
import {
  ExternalSignInError,
  exchangeCode,
  fetchProfile,
  logExternalSignInFailure,
  signInToAccount,
  verifyIssuer,
} from "#server/features/visitor/external-sign-in.server";
import { methodNotAllowed } from "~/answers/responses";
import { browserOf, getUser, signIn } from "~/request";
import {
  attemptReturnTo,
  clearedAttemptCookies,
  codeVerifierOf,
  connectingOwner,
  isConnecting,
  isOwnState,
  redirectUri,
} from "~/visitor/oauth-attempt.server";

export { default } from "~/answers/no-page";

/** RFC 6749, section 3.1: no parameter comes twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return ["state", "iss", "error", "code"].some((name) => parameters.getAll(name).length > 1);
}

async function failurePage(request: Request): Promise<string> {
  const owner = isConnecting(request) && (await getUser(request).catch(() => null));
  return owner ? "/dashboard?notice=idp_failed" : "/login?notice=idp_failed";
}

export async function loader({ request }: LoaderFunctionArgs) {
  if (request.method === "HEAD") throw methodNotAllowed("GET"); // a link preview completes no sign-in
  const { searchParams: response } = new URL(request.url);
  const headers = clearedAttemptCookies(request);
  try {
    if (isRepeated(response)) throw new ExternalSignInError("repeated_parameter");
    const state = response.get("state");
    if (!isOwnState(request, state)) throw new ExternalSignInError("state");
    await verifyIssuer(response.get("iss"));
    if (response.has("error")) throw new ExternalSignInError("denied");
    const code = response.get("code");
    if (!code) throw new ExternalSignInError("no_code");
    const owner = await connectingOwner(request, state);

    const authorization = { code, redirectUri: redirectUri(request), codeVerifier: codeVerifierOf(request) };
    const accessToken = await exchangeCode(authorization);
    const profile = await fetchProfile(accessToken);
    if (owner) {
      await connectProvider(owner, profile);
      return redirect("/dashboard?notice=idp_connected", { headers });
    }
    const session = await signInToAccount(profile, browserOf(request));
    return signIn(request, session, attemptReturnTo(request), headers);
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect(await failurePage(request), { headers });
  }
}

export function action() {
  throw methodNotAllowed("GET");
}
