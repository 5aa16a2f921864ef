import { allowedTarget, wildcardDomain } from "./return-to";
import { isWithin } from "./session-domain";
import type { KnownValues } from "./settings";

/** The origin of this service; `undefined` when a setting that says it has a problem. */
export const appUrlOf = ({ APP_URL, PORT }: KnownValues): string | undefined =>
  APP_URL ?? (APP_URL === null && PORT ? `http://localhost:${PORT}` : undefined);

/**
 * The rules between settings. One with a problem of its own breaks none.
 *
 * @returns the problems; each begins with a setting's name
 */
export function brokenRules(v: KnownValues, production: boolean): string[] {
  const problems: string[] = [];
  const report = (name: keyof KnownValues, reason: string) => void problems.push(`${name} ${reason}`);

  if (v.PROCESSES && v.PROCESSES > 1 && v.DATABASE_URL?.startsWith("pglite:")) {
    report("PROCESSES", "must be 1 with the embedded database, which belongs to one process");
  }
  if (v.METRICS_PORT && v.METRICS_PORT === v.PORT) report("METRICS_PORT", "must be another port than PORT");

  const mailService = v.MAIL_DRIVER !== undefined && v.MAIL_DRIVER !== "log";
  if (mailService && v.MAIL_FROM === null) report("MAIL_FROM", "is missing: a mail service needs the sender's address");
  if (mailService && production && v.APP_URL === null) {
    report("APP_URL", "is missing: mailed links need the public address of this service");
  }

  const externalSignIn = v.IDP_CLIENT_ID !== null || v.IDP_CLIENT_SECRET !== null;
  if (externalSignIn && v.IDP_PROVIDER === "oidc" && v.IDP_ISSUER === null) {
    report("IDP_ISSUER", "is missing: IDP_PROVIDER is oidc");
  }

  // Domains that are not in force would look like a limit.
  if (v.REGISTRATION === "open" && v.REGISTRATION_DOMAINS) {
    report("REGISTRATION_DOMAINS", "is set, but REGISTRATION is not domains");
  }

  const appUrl = appUrlOf(v);
  const { SESSION_DOMAIN: domain, RETURN_ORIGINS: returnOrigins, AFTER_SIGN_IN: afterSignIn } = v;
  if (appUrl && domain && !(appUrl.startsWith("https:") && isWithin(new URL(appUrl).hostname, domain))) {
    report("SESSION_DOMAIN", "must be the host of an https APP_URL, or a parent of it");
  }
  const isShared = (origin: string) => domain && isWithin(wildcardDomain(origin) ?? "", domain);
  if (domain !== undefined && returnOrigins?.some((origin) => origin.includes("*") && !isShared(origin))) {
    report("RETURN_ORIGINS", "must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN");
  }
  if (appUrl && returnOrigins && afterSignIn && allowedTarget(afterSignIn, { appUrl, returnOrigins }) === null) {
    report("AFTER_SIGN_IN", "must be a path, or a URL of APP_URL or of RETURN_ORIGINS");
  }
  return problems;
}
