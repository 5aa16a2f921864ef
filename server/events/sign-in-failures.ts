/** What a person can be told of a refused sign-in at the provider. `stale`: another attempt may work at once. */
export const signInProblems = [
  "stale",
  "cancelled",
  "noAnswer",
  "noEmail",
  "unusable",
  "unverified",
  "closed",
  "disconnected",
  "otherIdentity",
  "takenIdentity",
] as const;
export type SignInProblem = (typeof signInProblems)[number];

export const signInProblemIn = (text: string | null | undefined): SignInProblem | null =>
  signInProblems.find((known) => known === text) ?? null;

const moreParameters = {
  means: "The provider wants more, e.g. PKCE (`IDP_PKCE=true`), or a `nonce`: relax that for this client.",
};
const ownPolicy = { means: "A policy of the provider needs the user, or an administrator's consent." };
const extraParameter = { means: "`IDP_AUTHORIZE_URL` has such a parameter: remove it." };
const wrongFlow = { means: "Allow the client the authorization code flow." };

/** The `error` of an authorization response: RFC 6749, section 4.1.2.1; OpenID Connect Core 1.0, section 3.1.2.6. */
export const authorizationErrors = {
  access_denied: {
    means: "Somebody pressed Cancel, or the user is not assigned to the client.",
    problem: "cancelled",
  },
  invalid_request: moreParameters,
  unauthorized_client: wrongFlow,
  unsupported_response_type: wrongFlow,
  invalid_scope: { means: "Correct `IDP_SCOPE`, or allow the scopes for the client." },
  server_error: { means: "The provider's log says why.", problem: "noAnswer" },
  temporarily_unavailable: { means: "The provider's log says why.", problem: "noAnswer" },
  interaction_required: ownPolicy,
  login_required: ownPolicy,
  account_selection_required: ownPolicy,
  consent_required: ownPolicy,
  invalid_request_uri: extraParameter,
  invalid_request_object: extraParameter,
  request_not_supported: extraParameter,
  request_uri_not_supported: extraParameter,
  registration_not_supported: extraParameter,
  other: { means: "A code that no standard registers: the provider's log has it." },
} as const satisfies Record<string, Failure>;

type AuthorizationError = keyof typeof authorizationErrors;

export const isAuthorizationError = (code: string): code is AuthorizationError =>
  Object.hasOwn(authorizationErrors, code);

export type CallFailureReason =
  | Exclude<keyof typeof callFailures, `${string}xx`>
  | `${"redirect" | "status"} ${number}`;

export type SignInStep = (typeof signInSteps)[number];

export type ExternalSignInFailure =
  | keyof typeof signInFailures
  | `authorization: ${AuthorizationError}`
  | `${SignInStep}: ${CallFailureReason}`;

/** @returns what the person can be told; `null` if nothing helps */
export const problemOf = (reason: ExternalSignInFailure): SignInProblem | null =>
  everySignInFailure.get(boundedReason(reason))?.problem ?? null;

interface Failure {
  /** For operators: what happened, and what to do. */
  means: string;
  /** Only where something else than the general sentence helps the person. */
  problem?: SignInProblem;
}

/** Why a call to another service failed. `xx`: a status of this class. */
export const callFailures = {
  timeout: { means: "The network, or the service is down.", problem: "noAnswer" },
  unreachable: { means: "The network, or the service is down.", problem: "noAnswer" },
  "status 4xx": {
    means:
      "Of `exchange`: a wrong secret (401), or a code that was used (400). Of `profile`: a scope is missing (403).",
  },
  "status 5xx": { means: "The provider has an outage.", problem: "noAnswer" },
  "redirect 3xx": { means: "The configured URL is not that endpoint." },
  too_large: { means: "The configured URL is not that endpoint." },
  not_json: { means: "The configured URL is not that endpoint." },
  unexpected: { means: "The configured URL is not that endpoint, or a field is missing." },
} as const satisfies Record<string, Failure>;

const signInSteps = ["discovery", "exchange", "profile"] as const;

export const signInFailures = {
  state: {
    means:
      "The response is not of the newest attempt: several tabs, Back, a reload, more than ten minutes, or a forged link. The browser is led on or starts once more. Many of them: a proxy removes cookies, or people come by another origin than `APP_URL`.",
    problem: "stale",
  },
  client_gone: { means: "The browser hung up before the session started: a reload of a slow answer." },
  repeated_parameter: { means: "No provider sends this: a forged link, or a proxy that changes queries." },
  no_code: { means: "No provider sends this: a forged link, or a proxy that changes queries." },
  issuer: { means: "The response names another issuer: correct `IDP_ISSUER`." },
  no_email: {
    means: "The profile has no address: allow the scope `email`, or fill in the address at the provider.",
    problem: "noEmail",
  },
  no_verified_email: {
    means:
      "The profile's `email_verified` is not `true`: confirm the address there, send the claim, or set `IDP_TRUST_EMAIL=true`.",
    problem: "unverified",
  },
  unusable_email: {
    means: "The address is malformed, or outside ASCII: change it at the provider.",
    problem: "unusable",
  },
  logged_out: { means: "The provider reported the person's logout while the sign-in was under way." },
  registration_closed: {
    means: "No account has this address, and `REGISTRATION` allows none.",
    problem: "closed",
  },
  linked_to_another_id: {
    means: "The account has another user of the provider: `latchkey user unlink` takes it off.",
    problem: "otherIdentity",
  },
  disconnected: {
    means: "The owner has disconnected the provider, and can connect it on the account page.",
    problem: "disconnected",
  },
  suspended: { means: "The account is suspended: `latchkey user restore`." },
  already_connected: { means: "Connecting on the account page: already connected." },
  another_session: { means: "Connecting on the account page: another session, or an ended one." },
  sign_in_too_old: { means: "Connecting on the account page: the sign-in was too old." },
  id_of_another_account: {
    means: "Connecting on the account page: the id belongs to another account.",
    problem: "takenIdentity",
  },
  off: { means: "External sign-in is not configured." },
  database: { means: "The database is not available." },
  unexpected: { means: "The line before has the stack." },
} as const satisfies Record<string, Failure>;

const prefixed = (prefix: string, failures: Record<string, Failure>): [string, Failure][] =>
  Object.entries(failures).map(([reason, failure]) => [`${prefix}: ${reason}`, failure]);

/** Every reason of a refused sign-in. */
export const everySignInFailure: ReadonlyMap<string, Failure> = new Map([
  ...Object.entries(signInFailures),
  ...prefixed("authorization", authorizationErrors),
  ...signInSteps.flatMap((step) => prefixed(step, callFailures)),
]);

/** The class of a status in a reason: a provider chooses it, and each reason is a series of the metrics. */
export const boundedReason = (reason: string): string => reason.replace(/(\d)\d\d$/, "$1xx");
