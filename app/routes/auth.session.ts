import type { LoaderFunctionArgs } from "@remix-run/node";
import { factsOf, notSignedIn } from "#server/door/request-facts";
import { selfReport } from "#server/features/operator/health";
import { methodNotAllowed, respond } from "~/answers/responses";
import { getUser } from "~/visitor/session";

/**
 * Only for scripts of this origin: browsers send the cookie from other hosts of the site, too. With `?doctor`,
 * `latchkey doctor` asks how the service sees its request: every proxy before an application passes on this path.
 */
export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const facts = factsOf(request);
    if (new URL(request.url).searchParams.has("doctor")) return Response.json(selfReport(facts));
    if (facts.crossSite) return Response.json({ error: "cross_origin" }, { status: 403 });
    const signedIn = await getUser(request);
    if (!signedIn) return Response.json({ error: "not_signed_in" }, { status: 401, headers: notSignedIn });
    const { id, email, name, pictureUrl, groups } = signedIn.user;
    return Response.json({ user: { id, email, name, pictureUrl, groups }, expiresAt: signedIn.expiresAt });
  });
}

export function action() {
  return methodNotAllowed("GET, HEAD");
}
