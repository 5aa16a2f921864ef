import type { Reason } from "./reasons.ts";

/**
 * Published advisories of other products that stand where Latchkey stands, 2024 to 2026, by what went wrong. One without a
 * test has the reason why it cannot happen here.
 */
export const advisories: Record<string, string | [what: string, why: Reason]> = {
  "CVE-2024-41952": "ZITADEL: the message of a refused login says whether the user exists.",
  "CVE-2024-45410": "Traefik: a client removes the proxy's headers by naming them in `Connection`.",
  "CVE-2025-13033": "Nodemailer: a quoted local part with an `@` sends the mail to another recipient.",
  "CVE-2025-27143": "Better Auth: a URL without a scheme is an open redirect.",
  "CVE-2025-64101": "ZITADEL: the link of a reset mail follows `X-Forwarded-Host`.",
  "CVE-2025-64484": "OAuth2 Proxy: a header with underscores passes for the proxy's own.",
  "CVE-2025-68158": "Authlib: `state` is not bound to the browser that started the sign-in (login CSRF).",
  "CVE-2026-105207": "ZITADEL: an external identity is linked to an account without a sign-in of its owner.",
  "CVE-2026-105209": [
    "ZITADEL: an operator of one organisation gets a code to add a passkey for a user of another.",
    "Cannot happen: a passkey is added in a session of its owner only, and there are no organisations.",
  ],
  "CVE-2026-105785": "Joplin Server: a reset accepts a token of another purpose.",
  "CVE-2026-107369": "nextjs-auth0: a path becomes `//` when it is serialised.",
  "CVE-2026-114607": "Better Auth: the `state` of an external sign-in signs in as the token of a mailed link.",
  "CVE-2026-15571": "Keycloak: a client computes the hash that protects linking, and links its own identity.",
  "CVE-2026-15611": "Logto: an external sign-in links to an account by an unverified address.",
  "CVE-2026-18569": "Keycloak: an unsigned logout token ends sessions.",
  "CVE-2026-18963": "Keycloak: a reset goes on to the new password without the mailed step.",
  "CVE-2026-22029": "React Router: a redirect to a `javascript:` URL runs it.",
  "CVE-2026-22706": "Strapi: a reset leaves the sessions alive.",
  "CVE-2026-25748": "authentik: a malformed cookie passes the forward authentication.",
  "CVE-2026-28268": "Vikunja: a reset token can be used again.",
  "CVE-2026-33544":
    "tinyauth: sign-ins at the same moment share their state, and one person gets the session of another.",
  "CVE-2026-34077":
    "React Router, Remix: deeply nested input that a page shows again exhausts the stack of the encoder.",
  "CVE-2026-3429": "Keycloak: a session without the second factor removes it.",
  "CVE-2026-35051": "Traefik: a client's `X-Forwarded-Prefix` reaches the authentication.",
  "CVE-2026-39858": "Traefik: a client's `X_Forwarded_Proto` reaches the authentication.",
  "CVE-2026-40574": "OAuth2 Proxy: an address with two `@` passes the check of its domain.",
  "CVE-2026-40575": "OAuth2 Proxy: a client's `X-Forwarded-Uri` decides whether a path needs a sign-in.",
  "CVE-2026-43983": "Pocket ID: what a user was given before a suspension works on after it.",
  "CVE-2026-45364": "Better Auth: each address of an IPv6 network has a rate limit of its own.",
  "CVE-2026-49448": "authentik: an empty request skips the step at the external provider.",
  "CVE-2026-52845": "Caddy: a header with underscores passes for that of the authentication in PHP.",
  "CVE-2026-53516": "Better Auth: an external sign-in links to an account that somebody else prepared for the address.",
  "CVE-2026-54763": "Traefik: a header with underscores passes for that of the authentication.",
  "CVE-2026-55685": "React Router, Remix: a long path or manifest query is matched for seconds.",
  "CVE-2026-73420": "Auth.js: an address becomes another one when its characters are normalised after the check.",
  "CVE-2026-7507": "Keycloak: a link binds a person's sign-in to a session that somebody else prepared.",
  "CVE-2026-76835": "OAuth2 Proxy: a client's `X-Forwarded-Uri` decides whether a path needs a sign-in, again.",
  "CVE-2026-81888": "Hono: a callback passes when neither it nor the browser has a `state`.",
  "CVE-2026-82466": "Rodauth: in a session, the passkey of one account signs in to another.",
  "CVE-2026-82968": [
    "Keycloak: a proof links another identity of the same provider than the one that asked for it.",
    "Cannot happen: no mailed link links an identity of the provider; its own verified address does, or a sign-in.",
  ],
  "CVE-2026-88011": "Traefik: a header with dots passes for that of the authentication in PHP.",
  "CVE-2026-9087": [
    "Keycloak: a proof of the mailbox links another identity than the one that asked for it.",
    "Cannot happen: no mailed link links an identity of the provider; its own verified address does, or a sign-in.",
  ],
  "CVE-2026-92358": "Keycloak: a proof of linking works after the link was made, and after its owner removed it.",
  "CVE-2026-93453": "SOGo: the link of a reset mail follows `Origin`.",
  "CVE-2026-97175": "Keycloak: an external sign-in links to an account by an unverified address.",
  "GHSA-25rw-g6ff-fmg8": "ZITADEL: a direct request registers although registration is off.",
  "GHSA-2j2x-hqr9-3h42": "React Router: a redirect to a path that begins with `//` leads to another host.",
  "GHSA-46wh-pxpv-q5gq": "express-rate-limit: an IPv4 address in IPv6 is another client.",
  "GHSA-6f65-4fv2-wwch": "Vendure: the time of a refused login says whether the user exists.",
  "GHSA-7r4p-vjf4-gxv4":
    "Caddy: a header that the authentication does not answer passes from the client to the application.",
  "GHSA-h4fw-6r7f-w494": "webauthn-framework: a client asks for no user verification, and gets a sign-in without it.",
  "GHSA-qq9h-g4jm-xgf3":
    "Better Auth: whoever registered an address first keeps a password for it after its owner has proven it.",
  "GHSA-wxw3-q3m9-c3jr":
    "Better Auth: with the state in a cookie and without PKCE, a callback with another `state` passes.",
  "GHSA-x445-f3h2-j279": [
    "Auth.js: the `state` of one provider passes at the callback of another.",
    "Cannot happen: one provider is configured, and its callback is the only one.",
  ],
};
