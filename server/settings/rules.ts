import { allowedTarget, wildcardDomain } from "./return-to";
import { isWithin } from "./session-domain";
import type { KnownValues } from "./settings";

/** Issuers of many organisations, where a tenant or a user can state any address. The fourth means `consumers`. */
const tenants = "common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad";
const entra = `https://[^/]*\\b(?:microsoft\\.com|microsoftonline\\.\\w+|windows\\.net)/(?:${tenants})`;
const others = "https://(?:accounts\\.google|appleid\\.apple|gitlab|login\\.salesforce|login\\.yahoo|slack)\\.com";
const publicIssuer = new RegExp(`^(?:${entra}|${others})(?:/|$)`, "i");

/** The origin of this service; `undefined` when a setting that says it has a problem. */
export const appUrlOf = ({ address: { APP_URL, PORT } }: KnownValues): string | undefined =>
  APP_URL ?? (APP_URL === null && PORT ? `http://localhost:${PORT}` : undefined);

/** The problems of the rules between settings. A setting with a problem of its own breaks none. */
export function brokenRules(values: KnownValues, production: boolean): string[] {
  const { address, database, mail, identityProvider, registration, passwords, sessions, applications, metrics } =
    values;
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);

  if (database.PROCESSES && database.PROCESSES > 1 && database.DATABASE_URL?.startsWith("pglite:")) {
    report("PROCESSES must be 1 with the embedded database, which belongs to one process");
  }
  if (database.DATABASE_DIRECT_URL && database.DATABASE_URL?.startsWith("pglite:")) {
    report("DATABASE_DIRECT_URL must not be set with the embedded database, which has no pooler");
  }
  if (metrics.METRICS_PORT && metrics.METRICS_PORT === address.PORT) {
    report("METRICS_PORT must be another port than PORT");
  }

  const mailService = mail.MAIL_DRIVER !== undefined && mail.MAIL_DRIVER !== "log";
  if (mailService && mail.MAIL_FROM === null) {
    report("MAIL_FROM is missing: a mail service needs the sender's address");
  }
  if (mailService && production && address.APP_URL === null) {
    report("APP_URL is missing: mailed links need the public address of this service");
  }

  const { IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_PROVIDER, IDP_ISSUER } = identityProvider;
  const externalSignIn = IDP_CLIENT_ID !== null || IDP_CLIENT_SECRET !== null;
  if (externalSignIn && IDP_PROVIDER === "oidc" && IDP_ISSUER === null) {
    report("IDP_ISSUER is missing: IDP_PROVIDER is oidc");
  }
  const { IDP_NAME, IDP_TRUST_EMAIL, IDP_AUTHORIZE_URL, IDP_TOKEN_URL } = identityProvider;
  if (IDP_NAME && IDP_PROVIDER && IDP_PROVIDER !== "oidc") report("IDP_NAME must not be set: IDP_PROVIDER is not oidc");
  if (IDP_TRUST_EMAIL && IDP_PROVIDER && IDP_PROVIDER !== "oidc") {
    report("IDP_TRUST_EMAIL must be false: IDP_PROVIDER is not oidc");
  } else if (
    IDP_TRUST_EMAIL &&
    [IDP_ISSUER, IDP_AUTHORIZE_URL, IDP_TOKEN_URL].some((url) => publicIssuer.test(url ?? ""))
  ) {
    report("IDP_TRUST_EMAIL must be false: anybody can have an account with any address at this provider");
  }

  const absent = "no provider is configured (IDP_CLIENT_ID)";
  if (identityProvider.SIGN_IN_REDIRECT && !externalSignIn) report(`SIGN_IN_REDIRECT must be off: ${absent}`);
  if (passwords.PASSWORDS === false && !externalSignIn) report(`PASSWORDS must be on: ${absent}`);

  const { SESSION_IDLE, SESSION_MAX } = sessions;
  if (SESSION_IDLE && SESSION_MAX && SESSION_IDLE > SESSION_MAX) {
    report("SESSION_IDLE must not be more than SESSION_MAX");
  }

  // Domains that are not in force would look like a limit.
  if (registration.REGISTRATION === "open" && registration.REGISTRATION_DOMAINS) {
    report("REGISTRATION_DOMAINS is set, but REGISTRATION is not domains");
  }

  if (applications.IDENTITY_TOKENS && applications.IDENTITY_KEY === null) {
    report("IDENTITY_KEY is missing: IDENTITY_TOKENS is on. `openssl rand -base64 32` makes one");
  }

  const appUrl = appUrlOf(values);
  const { SESSION_DOMAIN: domain, RETURN_ORIGINS: returnOrigins, AFTER_SIGN_IN: afterSignIn } = applications;
  if (appUrl && domain && !(appUrl.startsWith("https:") && isWithin(new URL(appUrl).hostname, domain))) {
    report("SESSION_DOMAIN must be the host of an https APP_URL, or a parent of it");
  }
  const isShared = (origin: string) => domain && isWithin(wildcardDomain(origin) ?? "", domain);
  if (domain !== undefined && returnOrigins?.some((origin) => origin.includes("*") && !isShared(origin))) {
    report("RETURN_ORIGINS must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN");
  }
  if (appUrl && returnOrigins && afterSignIn && allowedTarget(afterSignIn, { appUrl, returnOrigins }) === null) {
    report("AFTER_SIGN_IN must be a path, or a URL of APP_URL or of RETURN_ORIGINS");
  }
  return problems;
}
