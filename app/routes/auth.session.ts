import type { LoaderFunctionArgs } from "@remix-run/node";
import { authenticate } from "#server/door/request-facts.server";
import { methodNotAllowed, respond } from "~/answers/responses";
import { factsOf, getUser } from "~/request";

/** For scripts of this origin alone: between hosts of one site, browsers send the cookie too. */
export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    if (factsOf(request).crossSite) return Response.json({ error: "cross_origin" }, { status: 403 });
    const signedIn = await getUser(request);
    if (!signedIn) return Response.json({ error: "not_signed_in" }, { status: 401, headers: authenticate });
    const { id, email, name, pictureUrl, groups } = signedIn.user;
    return Response.json({ user: { id, email, name, pictureUrl, groups }, expiresAt: signedIn.expiresAt });
  });
}

export function action() {
  return methodNotAllowed("GET, HEAD");
}
