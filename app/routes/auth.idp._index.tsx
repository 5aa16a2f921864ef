import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import {
  isExternalSignInOn,
  logExternalSignInFailure,
  startExternalSignIn,
} from "#server/features/visitor/external-sign-in.server";
import { methodNotAllowed, plainText } from "~/answers/responses";
import { returnToOf } from "~/request";
import { redirectUri, signInCookies } from "~/visitor/oauth-attempt.server";

export { default } from "~/answers/no-page";

export async function loader({ request }: LoaderFunctionArgs) {
  if (request.method === "HEAD") throw methodNotAllowed("GET"); // a link preview starts no attempt
  if (!isExternalSignInOn()) throw plainText("External sign-in is not configured.\n", 400);
  try {
    const attempt = await startExternalSignIn(redirectUri(request));
    return redirect(attempt.consentUrl, { headers: signInCookies(request, attempt, returnToOf(request)) });
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/login?notice=idp_failed");
  }
}

export function action() {
  throw methodNotAllowed("GET");
}
