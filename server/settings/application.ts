import * as z from "zod";
import { isWebUrl, optional } from "./forms";
import { allowedTarget, plainHost, type ReturnOrigins, wildcardDomain } from "./return-to";
import { isCookieDomain, isWithin } from "./session-domain";

/** What applications behind the login service need of it. */
export interface ApplicationConfig extends ReturnOrigins {
  /** Where a sign-in ends that names no other place: a path of ours, or a URL of an allowed origin. */
  readonly afterSignIn: string;
  /** The domain of the session cookie; `null`: the cookie belongs to this host alone. */
  readonly sessionDomain: string | null;
}

/** The origin in the spelling of the URL Standard; `null` when the text has more than an origin, or is none. */
function parseOrigin(text: string): string | null {
  if (!isWebUrl(text)) return null;
  const { origin, hostname, href } = new URL(text);
  return href === `${origin}/` && plainHost.test(hostname.replace(/^\*\./, "")) ? origin : null;
}

const isAllowedWildcard = (domain: string, sessionDomain: string | null) =>
  sessionDomain !== null && isWithin(domain, sessionDomain);

function parseReturnOrigins(text: string, sessionDomain: string | null): { origins: string[]; problem: string | null } {
  const parsed = (text === "" ? [] : text.split(",")).map((origin) => parseOrigin(origin.trim()));
  const origins = parsed.filter((origin) => origin !== null);
  const outside = origins
    .filter((origin) => origin.includes("*"))
    .some((origin) => !isAllowedWildcard(wildcardDomain(origin) ?? "", sessionDomain));
  let problem: string | null = null;
  if (outside) problem = "must have a wildcard only as https://*.DOMAIN within SESSION_DOMAIN";
  if (origins.length < parsed.length) problem = "must be origins such as https://app.example.org, separated by commas";
  return { origins, problem };
}

function sessionDomainProblem(domain: string, appUrl: string): string | null {
  if (!isCookieDomain(domain))
    return "must be a domain such as example.org, of two labels or more and no public suffix";
  const { protocol, hostname } = new URL(appUrl);
  if (protocol === "https:" && isWithin(hostname, domain)) return null;
  return "must be the host of an https APP_URL, or a parent of it";
}

/** Reads the settings together, because each is compared with others. */
export const applicationSettings = z
  .object({
    APP_URL: optional,
    PORT: z.coerce.string().default("3000"),
    RETURN_ORIGINS: z.string().default(""),
    AFTER_SIGN_IN: z.string().default("/dashboard"),
    SESSION_DOMAIN: optional,
  })
  .transform((env, context): ApplicationConfig => {
    const report = (name: keyof typeof env, message: string | null) => {
      if (message) context.issues.push({ code: "custom", path: [name], message, input: env[name] });
    };
    // A malformed APP_URL is reported by itself: what is compared with it then passes.
    const appUrl = env.APP_URL ?? `http://localhost:${env.PORT}`;
    const known = isWebUrl(appUrl);
    const sessionDomain = env.SESSION_DOMAIN?.toLowerCase() ?? null;
    if (sessionDomain !== null && known) report("SESSION_DOMAIN", sessionDomainProblem(sessionDomain, appUrl));
    const { origins, problem } = parseReturnOrigins(env.RETURN_ORIGINS, sessionDomain);
    report("RETURN_ORIGINS", problem);
    const allowed = { appUrl: known ? new URL(appUrl).origin : appUrl, returnOrigins: origins };
    const afterSignIn = known && !problem ? allowedTarget(env.AFTER_SIGN_IN, allowed) : env.AFTER_SIGN_IN;
    if (afterSignIn === null) report("AFTER_SIGN_IN", "must be a path, or a URL of APP_URL or of RETURN_ORIGINS");
    return { ...allowed, afterSignIn: afterSignIn ?? "", sessionDomain };
  });
