import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { config } from "#server/config";
import { hasGone } from "#server/door/request-facts";
import { ExternalSignInError } from "#server/errors";
import { linkProvider } from "#server/features/owner/provider-link";
import { logExternalSignInFailure, refusalReason, signInToAccount } from "#server/features/visitor/external-sign-in";
import { exchangeCode, fetchProfile, verifyIssuer } from "#server/provider/client";
import { plainText } from "~/answers/no-page";
import { methodNotAllowed } from "~/answers/responses";
import { atProvider } from "~/visitor/cookies";
import { accountWith } from "~/visitor/notices";
import {
  attemptLifetime,
  clearedCookies,
  codeVerifierOf,
  failConnection,
  failSignIn,
  findAttempt,
  isConnecting,
  isNavigation,
  isOwnConnection,
  isOwnState,
  redirectUri,
} from "~/visitor/oauth-attempt";
import { getUser, mustSignInAgain, signIn } from "~/visitor/session";
import { visitorOf } from "~/visitor/visitor";

export { default } from "~/answers/no-page";

export async function loader({ request }: LoaderFunctionArgs) {
  if (request.method === "HEAD") throw methodNotAllowed("GET"); // a link preview completes no sign-in
  if (!isNavigation(request)) throw plainText("A sign-in ends in a browser's window.\n", 403);
  const { searchParams: response } = new URL(request.url);
  const state = response.get("state");
  const attempt = findAttempt(request, state);
  const headers = clearedCookies(request, state);
  try {
    if (isRepeated(response)) throw new ExternalSignInError("repeated_parameter");
    if (!isOwnState(request, state)) throw new ExternalSignInError("state");
    await verifyIssuer(response.get("iss"));
    if (response.has("error")) throw new ExternalSignInError(refusalReason(response.get("error")));
    const code = response.get("code");
    if (!code) throw new ExternalSignInError("no_code");
    const owner = await connectingOwner(request, state);

    const codeVerifier = codeVerifierOf(request, state);
    const accessToken = await exchangeCode({ code, redirectUri: redirectUri(request), codeVerifier });
    const profile = await fetchProfile(accessToken);
    if (hasGone()) throw new ExternalSignInError("client_gone"); // it may reload, and must not get two sessions
    if (config().identityProvider?.logout) headers.append("Set-Cookie", atProvider.write(request, "1"));
    if (owner) {
      await linkProvider(owner, profile);
      return redirect(accountWith("idp_connected"), { headers });
    }
    const session = await signInToAccount(visitorOf(request), profile);
    return signIn(request, { session, way: "provider", returnTo: attempt?.returnTo ?? null, headers });
  } catch (error) {
    const problem = logExternalSignInFailure(error);
    if (await isOwnerConnecting(request)) return failConnection(request, headers, problem);
    return failSignIn(request, headers, { ...attempt, problem });
  }
}

/** RFC 6749, section 3.1: no parameter may occur twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return ["state", "iss", "error", "code"].some((name) => parameters.getAll(name).length > 1);
}

/** The owner who started the attempt to connect; `null` for a sign-in. @throws ExternalSignInError */
async function connectingOwner(request: Request, state: string) {
  if (!isConnecting(request)) return null;
  const owner = await getUser(request);
  if (!owner || !isOwnConnection(request, state)) throw new ExternalSignInError("another_session");
  // A thief of the session cookie can make the other cookies, so the age of the sign-in is checked here too.
  if (mustSignInAgain(owner, attemptLifetime)) throw new ExternalSignInError("sign_in_too_old");
  return owner;
}

const isOwnerConnecting = async (request: Request): Promise<boolean> =>
  isConnecting(request) && (await getUser(request).catch(() => null)) !== null;

export function action() {
  throw methodNotAllowed("GET");
}
