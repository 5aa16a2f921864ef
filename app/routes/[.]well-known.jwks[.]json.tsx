import { publicKeys } from "#server/features/application/signing-keys.server";
import { respond } from "~/answers/responses";

export { default } from "~/answers/no-page";

/** A JSON Web Key Set (RFC 7517): the public keys of the tokens of `/auth/verify`. */
export const loader = () =>
  respond(async () => {
    const keys = await publicKeys();
    if (!keys) throw new Response(null, { status: 404 });
    const headers = { "Content-Type": "application/jwk-set+json", "Cache-Control": "max-age=300" };
    throw new Response(JSON.stringify({ keys }), { headers });
  });
