import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../config";
import { log } from "../log";
import { type Answer, failure } from "./endpoints";
import { connectionUrl, hopsOf, isEncrypted } from "./forwarded";
import { authenticate, cookieOf, sessionCookieName } from "./request-facts";
import { parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";

export const verifyPath = "/auth/verify";

interface VerifiedUser {
  id: string;
  email: string;
  name: string | null;
  groups: string[];
  token?: string;
}

/** @param audience the origin that the browser asked for */
export type FindUser = (sessionToken: string, audience: () => string) => Promise<VerifiedUser | null>;

type Verdict = Pick<Answer, "status"> & Partial<Answer>;

/** A header's value is ASCII (RFC 9110, section 5.5), but a person's name need not be. */
function userHeaders({ id, email, name, groups, token }: VerifiedUser): Record<string, string> {
  const ascii = encodeURIComponent(name ?? "");
  const own = { "Remote-User": id, "Remote-Email": email, "Remote-Name": ascii, "Remote-Groups": groups.join() };
  return token === undefined ? own : Object.assign(own, { "Remote-Token": token });
}

/** Whether the user is in one of the groups that the proxy names, or it names none. */
function isAdmitted({ groups }: VerifiedUser, { query }: Target): boolean {
  const asked = new URLSearchParams(query).getAll("group");
  return asked.length === 0 || asked.some((name) => groups.includes(name));
}

/** An unknown parameter, such as a misspelt `groups`. If it were ignored, everybody would be admitted. */
function unknownParameter({ query }: Target): string | undefined {
  const unknown = query.split(/[?&]/).find((parameter) => parameter !== "" && !parameter.startsWith("group="));
  return unknown?.split("=")[0]?.slice(0, 32);
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
  const parameter = unknownParameter(target);
  if (parameter !== undefined) {
    log.error({ parameter }, `${verifyPath} takes group=NAME alone.`);
    return { status: 500 };
  }
  const token = cookieOf(request.headers.cookie ?? "", sessionCookieName(isEncrypted(request, config)));
  const user = token && (await findUser(token, () => connectionUrl(request, target.authority, config).origin));
  if (user && isAdmitted(user, target)) return { status: 200, headers: userHeaders(user) };
  const destination = hopsOf(request, config.trustedProxies) > 0 ? navigationUrl(request, target, config) : null;
  if (destination === null) return user ? { status: 403 } : { status: 401, headers: authenticate };
  const query = new URLSearchParams({ return_to: destination });
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
