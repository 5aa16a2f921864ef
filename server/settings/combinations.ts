import { deliveryEventsOf, tellingDrivers } from "../mail-services/services";
import { allowedTarget, wildcardDomain } from "../origins/return-to";
import { either, isConfidential, notHttps } from "./formats";
import { mayHaveLogout } from "./provider-names";
import { isWithin } from "./session-domain";
import type { KnownValues, Values } from "./settings";

/** A provider in the same private network may have no TLS. @returns a sentence without full stop for a warning */
export const plainIssuerWarning = (issuer: string | null | undefined): string[] =>
  isPlain(issuer) ? ["IDP_ISSUER is http: the client's secret and people's addresses cross the network in clear"] : [];

/** The problems of the rules between settings. A setting with a problem of its own breaks none. */
export function brokenRules(values: KnownValues, appUrl: string | undefined, production: boolean): string[] {
  const { MAIL_DRIVER, IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_PROVIDER, IDP_ISSUER, IDP_TRUST_EMAIL } = values;
  const { SESSION_IDLE, SESSION_MAX, SESSION_DOMAIN, RETURN_ORIGINS, AFTER_SIGN_IN, METRICS_PORT } = values;
  const isEmbedded = values.DATABASE_URL?.startsWith("pglite:");
  const hasMailService = MAIL_DRIVER !== undefined && MAIL_DRIVER !== "log";
  const hasProvider = IDP_CLIENT_ID !== null || IDP_CLIENT_SECRET !== null;
  const isAnotherProvider = IDP_PROVIDER && IDP_PROVIDER !== "oidc";
  const isPublic = [IDP_ISSUER, values.IDP_AUTHORIZE_URL, values.IDP_TOKEN_URL].some(
    (url) => url && isPublicIssuer(url),
  );
  const needsTls = !isPlain(IDP_ISSUER);
  const isOutside = (host: string) => !SESSION_DOMAIN || !isWithin(host, SESSION_DOMAIN);
  const isOutsideWildcard = (origin: string) => origin.includes("*") && isOutside(wildcardDomain(origin) ?? "");
  const noProvider = "no provider is configured (IDP_CLIENT_ID)";

  const eventsSecret = values.MAIL_EVENTS_SECRET;
  const eventsProblem = eventsSecret && MAIL_DRIVER && eventsSecretProblem(MAIL_DRIVER, eventsSecret);

  const rules: [isBroken: unknown, problem: string][] = [
    [
      isEmbedded && values.PROCESSES && values.PROCESSES > 1,
      "PROCESSES must be 1 with the embedded database, which belongs to one process",
    ],
    [
      isEmbedded && values.DATABASE_DIRECT_URL,
      "DATABASE_DIRECT_URL must not be set with the embedded database, which has no pooler",
    ],
    [METRICS_PORT && METRICS_PORT === values.PORT, "METRICS_PORT must be another port than PORT"],
    [hasMailService && values.MAIL_FROM === null, "MAIL_FROM is missing: a mail service needs the sender's address"],
    [eventsProblem, `MAIL_EVENTS_SECRET ${eventsProblem}`],
    [
      hasMailService && production && values.APP_URL === null,
      "APP_URL is missing: mailed links need the public address of this service",
    ],
    [hasProvider && IDP_PROVIDER === "oidc" && IDP_ISSUER === null, "IDP_ISSUER is missing: IDP_PROVIDER is oidc"],
    [needsTls && isPlain(values.IDP_TOKEN_URL), `IDP_TOKEN_URL ${notHttps}`],
    [needsTls && isPlain(values.IDP_PROFILE_URL), `IDP_PROFILE_URL ${notHttps}`],
    [values.IDP_NAME && isAnotherProvider, "IDP_NAME must not be set: IDP_PROVIDER is not oidc"],
    [
      values.IDP_LOGOUT && hasProvider && IDP_PROVIDER && !mayHaveLogout[IDP_PROVIDER],
      `IDP_LOGOUT must be off: ${IDP_PROVIDER} has no logout for applications (end_session_endpoint)`,
    ],
    [values.IDP_GROUPS_CLAIM && isAnotherProvider, "IDP_GROUPS_CLAIM must not be set: IDP_PROVIDER is not oidc"],
    [
      values.IDP_GROUPS_CLAIM && !isAnotherProvider && isPublic,
      "IDP_GROUPS_CLAIM must not be set: anybody can have a group of any name at this provider",
    ],
    [IDP_TRUST_EMAIL && isAnotherProvider, "IDP_TRUST_EMAIL must be false: IDP_PROVIDER is not oidc"],
    [
      IDP_TRUST_EMAIL && !isAnotherProvider && isPublic,
      "IDP_TRUST_EMAIL must be false: anybody can have an account with any address at this provider",
    ],
    [values.SIGN_IN_REDIRECT && !hasProvider, `SIGN_IN_REDIRECT must be off: ${noProvider}`],
    [values.PASSWORDS === false && !hasProvider, `PASSWORDS must be on: ${noProvider}`],
    [SESSION_IDLE && SESSION_MAX && SESSION_IDLE > SESSION_MAX, "SESSION_IDLE must not be more than SESSION_MAX"],
    [
      values.REGISTRATION === "open" && values.REGISTRATION_DOMAINS, // they would look like a limit
      "REGISTRATION_DOMAINS is set, but REGISTRATION is not domains",
    ],
    [
      values.IDENTITY_TOKENS && values.IDENTITY_KEY === null,
      "IDENTITY_KEY is missing: IDENTITY_TOKENS is on. `openssl rand -base64 32` makes one",
    ],
    [
      SESSION_DOMAIN && isNotOver(SESSION_DOMAIN, appUrl),
      "SESSION_DOMAIN must be the host of an https APP_URL, or a parent of it",
    ],
    [
      values.PASSKEY_RP_ID && isNotOver(values.PASSKEY_RP_ID, appUrl),
      "PASSKEY_RP_ID must be the host of an https APP_URL, or a parent of it",
    ],
    [
      values.DEVICE_BOUND_SESSIONS && isPlain(appUrl),
      "DEVICE_BOUND_SESSIONS must be off: browsers bind sessions only with an https APP_URL, or a loopback one",
    ],
    [
      SESSION_DOMAIN !== undefined && RETURN_ORIGINS?.some(isOutsideWildcard),
      "RETURN_ORIGINS must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN",
    ],
    [
      appUrl &&
        RETURN_ORIGINS &&
        AFTER_SIGN_IN &&
        allowedTarget(AFTER_SIGN_IN, { appUrl, returnOrigins: RETURN_ORIGINS }) === null,
      "AFTER_SIGN_IN must be a path, or a URL of APP_URL or of RETURN_ORIGINS",
    ],
  ];
  return rules.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}

/** Issuers of many organisations, where a tenant or a user can state any address. The fourth means `consumers`. */
const tenants = "common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad";
const entra = `[^/]*\\b(?:microsoft\\.com|microsoftonline\\.\\w+|windows\\.net)/(?:${tenants})`;
const others = "(?:accounts\\.google|appleid\\.apple|gitlab|login\\.salesforce|(?:api\\.)?login\\.yahoo|slack)\\.com";
const publicIssuer = new RegExp(`^(?:${entra}|${others})(?:/|$)`, "i");

/** Whatever the spelling of the host: `URL` takes off the default port. */
function isPublicIssuer(url: string): boolean {
  const { host, pathname } = new URL(url);
  return publicIssuer.test(host.replace(/\.$/, "") + pathname);
}

const isPlain = (url: string | null | undefined) => Boolean(url) && !isConfidential(new URL(url ?? ""));

function eventsSecretProblem(driver: Values["MAIL_DRIVER"], secret: string): string | undefined {
  const events = deliveryEventsOf(driver);
  if (!events) return `must not be set: MAIL_DRIVER is not ${either(tellingDrivers)}`;
  return events.secret.safeParse(secret).error?.issues[0]?.message;
}

const isNotOver = (domain: string, appUrl: string | undefined) =>
  appUrl !== undefined && !(appUrl.startsWith("https:") && isWithin(new URL(appUrl).hostname, domain));
