import type { IncomingMessage, ServerResponse } from "node:http";
import { distance } from "fastest-levenshtein";
import type { Config } from "../config";
import { log } from "../log";
import { isOlderThan, parseMaxAge } from "../rules";
import { type Answer, failure } from "./endpoint-answers";
import { connectionUrl, hopsOf, isEncrypted } from "./forwarded";
import { cookieOf, notSignedIn, sessionCookieName } from "./request-facts";
import { parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";

export const verifyPath = "/auth/verify";

interface VerifiedUser {
  id: string;
  email: string;
  name: string | null;
  groups: string[];
  signedInAt: Date;
  token?: string;
}

/** @param audience the origin that the browser asked for */
export type FindUser = (
  token: string,
  audience: () => string,
  boundToken?: string | null,
) => Promise<VerifiedUser | null>;

type Verdict = Pick<Answer, "status"> & Partial<Answer>;

/** A header's value is ASCII (RFC 9110, section 5.5), but a person's name need not be. */
function userHeaders({ id, email, name, groups, token }: VerifiedUser): Record<string, string> {
  const ascii = encodeURIComponent(name ?? "");
  const own = { "Remote-User": id, "Remote-Email": email, "Remote-Name": ascii, "Remote-Groups": groups.join() };
  return token === undefined ? own : Object.assign(own, { "Remote-Token": token });
}

const almostKnown = (parameter: string) =>
  ["group", "max_age"].some((known) => distance(parameter.toLowerCase(), known) <= 2);

const pause = 60_000; // ms
let mayWarnAt = 0;

/** At most one line a minute, without the text of a stranger, who can ask with any query. */
function warnOf(parameter: string): void {
  if (Date.now() < mayWarnAt) return;
  mayWarnAt = Date.now() + pause;
  const named = almostKnown(parameter) ? parameter : "another parameter";
  log.warn({ parameter: named }, `${verifyPath} takes group=NAME and max_age=SECONDS (60 to 86400) alone.`);
}

const maxAgeIn = (parameter: string) => parseMaxAge(/^max_age=(.*)$/.exec(parameter)?.[1] ?? "");

/**
 * The groups and the age of the sign-in that the proxy names. `null` for a target with anything else, such as `groups=`,
 * a second `?` or a `#`: a typing error, which would admit everybody if it were ignored.
 */
function askedIn(url: string): { groups: string[]; maxAge: number | null } | null {
  const query = url.replace(/^[^?#]*\??/, "");
  const parameters = query.split("&").filter((parameter) => parameter !== "");
  const [maxAge = null, repeated] = parameters.map(maxAgeIn).filter((seconds) => seconds !== null);
  const unknown = parameters.find((parameter) => !parameter.startsWith("group=") && maxAgeIn(parameter) === null);
  if (unknown === undefined && repeated === undefined && (query === "" || parameters.length > 0))
    return { groups: new URLSearchParams(query).getAll("group"), maxAge };
  warnOf(unknown?.split("=")[0] ?? (repeated ? "max_age" : ""));
  return null;
}

/** Decides by Fetch Metadata, if the browser sends it: an application's `fetch()` may accept HTML too. */
function isNavigation({ headers }: IncomingMessage): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination } = headers;
  if (mode === undefined && destination === undefined) return /text\/html/i.test(headers.accept ?? "");
  return (mode ?? "navigate") === "navigate" && (destination ?? "document") === "document";
}

/** The URL that a browser navigates to, by what the proxy says of its request; `null` for every other request. */
function navigationUrl(request: IncomingMessage, { authority }: Target, config: Config): string | null {
  const { headers } = request;
  const uri = headers["x-forwarded-uri"]?.toString();
  const method = headers["x-forwarded-method"] ?? "GET";
  if (uri === undefined || method !== "GET" || !isNavigation(request)) return null;
  const target = parseTarget(uri);
  return target && connectionUrl(request, authority, config).origin + target.path + target.query;
}

async function verdictOf(
  request: IncomingMessage,
  target: Target,
  config: Config,
  findUser: FindUser,
): Promise<Verdict> {
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, headers: { Allow: "GET, HEAD" } };
  const asked = askedIn(request.url ?? "");
  if (asked === null) return { status: 400 };
  const { groups, maxAge } = asked;
  const cookie = (name?: "bound") =>
    cookieOf(request.headers.cookie ?? "", sessionCookieName(isEncrypted(request, config), name));
  const token = cookie();
  const audience = () => connectionUrl(request, target.authority, config).origin;
  const found = token && (await findUser(token, audience, config.deviceBoundSessions ? cookie("bound") : null));
  const user = found && (maxAge === null || !isOlderThan(maxAge, found.signedInAt)) ? found : null;
  if (user && (groups.length === 0 || groups.some((name) => user.groups.includes(name)))) {
    return { status: 200, headers: userHeaders(user) };
  }
  const destination = hopsOf(request, config.trustedProxies) > 0 ? navigationUrl(request, target, config) : null;
  if (destination === null) return user ? { status: 403 } : { status: 401, headers: notSignedIn };
  const query = new URLSearchParams({ return_to: destination });
  if (!user && maxAge !== null) query.set("max_age", String(maxAge));
  return { status: 302, headers: { Location: `${config.appUrl}${user ? "/no-access" : "/login"}?${query}` } };
}

export async function answerVerification(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  config: Config,
  findUser: FindUser,
): Promise<void> {
  const { status, headers } = await verdictOf(request, target, config, findUser).catch(failure);
  // A proxy passes on every answer but this one. Helmet would be a fifth of its CPU.
  if (status !== 200) setSecurityHeaders(request, response, isEncrypted(request, config));
  response.writeHead(status, { ...headers, "Cache-Control": "no-store", "Content-Length": 0 }).end();
}
