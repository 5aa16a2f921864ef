import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { originOf } from "#server/connection.server";
import { providerLabel, refuseExternalSignIn, startExternalSignIn } from "#server/external-sign-in.server";
import { attemptCookies, callbackUrl, newAttempt } from "~/oauth-state.server";

export async function loader({ request }: LoaderFunctionArgs) {
  if (providerLabel() === null) {
    return new Response("External sign-in is not configured.\n", {
      status: 400,
      headers: { "Content-Type": "text/plain; charset=utf-8" },
    });
  }
  const attempt = newAttempt();
  try {
    const { state, codeVerifier } = attempt;
    const consentUrl = await startExternalSignIn(callbackUrl(originOf(request)), state, codeVerifier);
    return redirect(consentUrl, { headers: attemptCookies(request, attempt) });
  } catch (error) {
    refuseExternalSignIn(error);
    return redirect("/login?notice=idp_failed");
  }
}
