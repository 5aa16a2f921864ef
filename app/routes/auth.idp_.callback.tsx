import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { hasGone } from "#server/door/request-facts";
import { connectProvider } from "#server/features/owner/provider-link";
import {
  ExternalSignInError,
  exchangeCode,
  fetchProfile,
  logExternalSignInFailure,
  refusalReason,
  signInToAccount,
  verifyIssuer,
} from "#server/features/visitor/external-sign-in";
import { methodNotAllowed } from "~/answers/responses";
import {
  clearedAttemptCookies,
  codeVerifierOf,
  connectingOwner,
  isConnecting,
  isOwnState,
  redirectUri,
} from "~/visitor/oauth-attempt";
import { getUser, signIn } from "~/visitor/session";
import { failAttempt, findAttempt } from "~/visitor/sign-in-attempt";
import { visitorOf } from "~/visitor/visitor";

export { default } from "~/answers/no-page";

/** RFC 6749, section 3.1: no parameter may occur twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return ["state", "iss", "error", "code"].some((name) => parameters.getAll(name).length > 1);
}

const isOwnerConnecting = async (request: Request): Promise<boolean> =>
  isConnecting(request) && (await getUser(request).catch(() => null)) !== null;

export async function loader({ request }: LoaderFunctionArgs) {
  if (request.method === "HEAD") throw methodNotAllowed("GET"); // a link preview completes no sign-in
  const { searchParams: response } = new URL(request.url);
  const state = response.get("state");
  const attempt = findAttempt(request, state);
  const headers = clearedAttemptCookies(request, state);
  try {
    if (isRepeated(response)) throw new ExternalSignInError("repeated_parameter");
    if (!isOwnState(request, state)) throw new ExternalSignInError("state");
    await verifyIssuer(response.get("iss"));
    if (response.has("error")) throw new ExternalSignInError(refusalReason(response.get("error")));
    const code = response.get("code");
    if (!code) throw new ExternalSignInError("no_code");
    const owner = await connectingOwner(request, state);

    const authorization = { code, redirectUri: redirectUri(request), codeVerifier: codeVerifierOf(request) };
    const accessToken = await exchangeCode(authorization);
    const profile = await fetchProfile(accessToken);
    if (hasGone()) throw new ExternalSignInError("client_gone"); // it may reload, and must not get two sessions
    if (owner) {
      await connectProvider(owner, profile);
      return redirect("/dashboard?notice=idp_connected", { headers });
    }
    const session = await signInToAccount(visitorOf(request), profile);
    return signIn(request, { session, way: "provider", returnTo: attempt?.returnTo ?? null, headers });
  } catch (error) {
    const problem = logExternalSignInFailure(error);
    if (await isOwnerConnecting(request)) return redirect("/dashboard?notice=idp_failed", { headers });
    return failAttempt(request, headers, { ...attempt, problem });
  }
}

export function action() {
  throw methodNotAllowed("GET");
}
