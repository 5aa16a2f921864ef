import type { ActionFunctionArgs } from "@remix-run/node";
import { endSessionsByProvider } from "#server/features/visitor/provider-logout";
import { methodNotAllowed, respond } from "~/answers/responses";
import { readFields } from "~/forms/form";

const formType = /^application\/x-www-form-urlencoded(?:;|$)/i;

/** The provider reports a logout: OpenID Connect Back-Channel Logout 1.0, sections 2.5 and 2.8. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    if (request.method !== "POST") return methodNotAllowed("POST");
    const headers = { "Cache-Control": "no-store" };
    if (!formType.test(request.headers.get("Content-Type") ?? "")) return new Response(null, { status: 415, headers });
    const { fields } = await readFields(request, "logout_token");
    const failure = await endSessionsByProvider(fields.logout_token);
    return new Response(null, { status: failure === null ? 200 : failure === "key_set" ? 503 : 400, headers });
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
