import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../config";
import { DatabaseUnavailable } from "../errors";
import { logUnexpected } from "../log";
import { connectionUrl, isEncrypted } from "./forwarded";
import { cookieOf, sessionCookieName } from "./request-facts.server";
import { parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";

export const verifyPath = "/auth/verify";

interface VerifiedUser {
  id: string;
  email: string;
  name: string | null;
}

export type FindUser = (token: string) => Promise<VerifiedUser | null>;

interface Verdict {
  status: 200 | 302 | 401 | 405 | 500 | 503;
  headers?: Record<string, string>;
}

/** A header's value is ASCII (RFC 9110, section 5.5), and a name is not. */
function userHeaders({ id, email, name }: VerifiedUser): Record<string, string> {
  return { "Remote-User": id, "Remote-Email": email, "Remote-Name": encodeURIComponent(name ?? "") };
}

/** The URL that a browser navigates to, by what the proxy says of its request; `null` for every other request. */
function navigationUrl(request: IncomingMessage, { authority }: Target, config: Config): string | null {
  const { headers } = request;
  const uri = headers["x-forwarded-uri"]?.toString();
  const method = headers["x-forwarded-method"] ?? "GET";
  if (uri === undefined || method !== "GET" || !/text\/html/i.test(headers.accept ?? "")) return null;
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
  const token = cookieOf(request.headers.cookie ?? "", sessionCookieName(isEncrypted(request, config)));
  const user = token && (await findUser(token));
  if (user) return { status: 200, headers: userHeaders(user) };
  const destination = config.trustedProxies > 0 ? navigationUrl(request, target, config) : null;
  if (destination === null) return { status: 401 };
  const query = new URLSearchParams({ return_to: destination });
  return { status: 302, headers: { Location: `${config.appUrl}/login?${query}` } };
}

function failure(error: unknown): Verdict {
  if (error instanceof DatabaseUnavailable) return { status: 503 };
  logUnexpected(error);
  return { status: 500 };
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
