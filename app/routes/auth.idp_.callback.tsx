import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { originOf } from "#server/connection.server";
import {
  ExternalSignInError,
  fetchProfile,
  refuseExternalSignIn,
  signInWithProfile,
  usesPkce,
  verifyIssuer,
} from "#server/external-sign-in.server";
import { callbackUrl, clearedCookies, isOwnState, ownVerifier } from "~/oauth-state.server";
import { methodNotAllowed } from "~/responses";
import { browserOf, signIn } from "~/session.server";

/** RFC 6749, section 3.1: no parameter comes twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return ["state", "iss", "error", "code"].some((name) => parameters.getAll(name).length > 1);
}

async function authorizationCode(request: Request): Promise<string> {
  const { searchParams } = new URL(request.url);
  if (isRepeated(searchParams)) throw new ExternalSignInError("repeated_parameter");
  if (!isOwnState(request, searchParams.get("state"))) throw new ExternalSignInError("state");
  await verifyIssuer(searchParams.get("iss"));
  if (searchParams.has("error")) throw new ExternalSignInError("denied");
  const code = searchParams.get("code");
  if (!code) throw new ExternalSignInError("no_code");
  return code;
}

function codeVerifier(request: Request): string | null {
  if (!usesPkce()) return null;
  const verifier = ownVerifier(request);
  if (!verifier) throw new ExternalSignInError("verifier");
  return verifier;
}

export async function loader({ request }: LoaderFunctionArgs) {
  const headers = clearedCookies(request);
  try {
    const code = await authorizationCode(request);
    const redirectUri = callbackUrl(originOf(request));
    const profile = await fetchProfile({ code, redirectUri, codeVerifier: codeVerifier(request) });
    const session = await signInWithProfile(profile, browserOf(request));
    return signIn(request, session, headers);
  } catch (error) {
    refuseExternalSignIn(error);
    return redirect("/login?notice=idp_failed", { headers });
  }
}

export function action() {
  throw methodNotAllowed("GET, HEAD");
}

export default function Callback() {
  return null;
}
