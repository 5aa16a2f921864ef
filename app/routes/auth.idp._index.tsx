import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { config } from "#server/config";
import { logExternalSignInFailure, startExternalSignIn } from "#server/features/visitor/external-sign-in";
import { plainText } from "~/answers/no-page";
import { methodNotAllowed } from "~/answers/responses";
import { failSignIn, newAttempt, signInCookies } from "~/visitor/oauth-attempt";
import { maxAgeOf, returnToOf } from "~/visitor/page-query";

export { default } from "~/answers/no-page";

export async function loader({ request }: LoaderFunctionArgs) {
  if (request.method === "HEAD") throw methodNotAllowed("GET"); // a link preview starts no attempt
  if (!config().identityProvider) throw plainText("External sign-in is not configured.\n", 400);
  if (isSpeculative(request)) throw plainText("This page is not loaded in advance.\n", 503);
  const target = { returnTo: returnToOf(request), maxAge: maxAgeOf(request) };
  const selectsAccount = new URL(request.url).searchParams.getAll("prompt").join() === "select_account";
  try {
    const attempt = newAttempt(request, "sign_in");
    const asks = target.maxAge !== null ? "sign_in" : selectsAccount ? "account" : null;
    const consentUrl = await startExternalSignIn(attempt, asks);
    return redirect(consentUrl, { headers: signInCookies(request, attempt, target) });
  } catch (error) {
    return failSignIn(request, new Headers(), { ...target, problem: logExternalSignInFailure(error) });
  }
}

/** https://wicg.github.io/nav-speculation/prefetch.html, section 6; Safari sends `Purpose`. */
const isSpeculative = ({ headers }: Request) =>
  /prefetch|prerender|preview/i.test(`${headers.get("Sec-Purpose")} ${headers.get("Purpose")}`);

export function action() {
  throw methodNotAllowed("GET");
}
