import type { IncomingMessage, ServerResponse } from "node:http";
import { distance } from "fastest-levenshtein";
import type { Config } from "../config";
import { log, onceAMinute } from "../log";
import { isGroup, isOlderThan, parseMaxAge } from "../rules";
import { isConfidential } from "../settings/formats";
import { accessTokensIn } from "./credentials";
import { type Answer, failure } from "./endpoint-answers";
import { connectionUrl, hopsOf, isEncrypted, namedOrigin } from "./forwarded";
import { cookieOf, cookieScheme, cookieValues, notSignedIn } from "./request-facts";
import { parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";
import { sessionCookieName } from "./session-cookies";

export const verifyPath = "/auth/verify";

export interface VerifiedUser {
  id: string;
  email: string;
  name: string | null;
  groups: string[];
  token?: string;
}

export interface Finders {
  /** @param audience the origin that the browser asked for */
  findUser(
    token: string,
    audience: () => string,
    boundToken: string | null,
  ): Promise<(VerifiedUser & { signedInAt: Date }) | null>;
  /** @param origin that a trusted proxy says the program asked for */
  findProgram(token: string, origin: string | null): Promise<VerifiedUser | null>;
}

type Verdict = Pick<Answer, "status"> & Partial<Answer>;

interface Question {
  request: IncomingMessage;
  target: Target;
  config: Config;
  finders: Finders;
}

export async function answerVerification(response: ServerResponse, question: Question): Promise<void> {
  const { request, config } = question;
  const { status, headers } = await verdictOf(question).catch(failure);
  // A proxy passes on every answer but this one. Helmet would be a fifth of its CPU.
  if (status !== 200) setSecurityHeaders(request, response, isEncrypted(request, config));
  response.writeHead(status, { ...headers, "Cache-Control": "no-store", "Content-Length": 0 }).end();
}

async function verdictOf(question: Question): Promise<Verdict> {
  const { request, config } = question;
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, headers: { Allow: "GET, HEAD" } };
  const asked = askedIn(request.url ?? "");
  if (asked === null) return { status: 400 };
  if (!asked.tokens || !config.accessTokens) return visitorVerdict(question, { ...asked, tokens: false });
  const tokens = accessTokensIn(request);
  return tokens.length > 0 ? programVerdict(question, asked, tokens) : visitorVerdict(question, asked);
}

const flags = ["tokens=on", "user=email"];

interface Asked {
  groups: string[];
  maxAge: number | null;
  tokens: boolean;
  /** Whether `Remote-User` is the address. */
  byEmail: boolean;
}

/**
 * What the proxy asks for. `null` for a target with anything else, such as `groups=`, a second `?` or a `#`: a typing
 * error, which would admit everybody if it were ignored.
 */
function askedIn(url: string): Asked | null {
  const query = url.replace(/^[^?#]*\??/, "");
  const parameters = query.split("&").filter((parameter) => parameter !== "");
  const others = parameters.filter((parameter) => !/^group=[^?]*$/.test(parameter));
  const names = others.map(nameOf);
  const isKnown = (parameter: string) => flags.includes(parameter) || maxAgeIn(parameter) !== null;
  const wrong = others.find((parameter, index) => !isKnown(parameter) || names.indexOf(nameOf(parameter)) !== index);
  if (wrong === undefined && (query === "" || parameters.length > 0)) {
    const [maxAge = null] = others.map(maxAgeIn).filter((seconds) => seconds !== null);
    const groups = new URLSearchParams(query).getAll("group");
    if (!groups.every(isGroup)) warnOf("group"); // no user can be in such a group
    return { groups, maxAge, tokens: names.includes("tokens"), byEmail: names.includes("user") };
  }
  warnOf(nameOf(wrong ?? ""));
  return null;
}

const nameOf = (parameter: string) => parameter.split("=")[0] ?? "";

const maxAgeIn = (parameter: string) => parseMaxAge(/^max_age=(.*)$/.exec(parameter)?.[1] ?? "");

const mayWarn = onceAMinute();

/** Without the text of a stranger, who can ask with any query. */
function warnOf(parameter: string): void {
  if (!mayWarn()) return;
  const named = almostKnown(parameter) ? parameter : "another parameter";
  const known = "group=NAME (of a-z 0-9 . _ -), max_age=SECONDS (60 to 86400), tokens=on and user=email";
  log.warn({ parameter: named }, `${verifyPath} takes ${known} alone.`);
}

const almostKnown = (parameter: string) =>
  ["group", "max_age", "tokens", "user"].some((known) => distance(parameter.toLowerCase(), known) <= 2);

async function visitorVerdict(question: Question, asked: Asked): Promise<Verdict> {
  const { request, target, config, finders } = question;
  const cookie = (name?: "bound") =>
    cookieOf(request.headers.cookie ?? "", sessionCookieName(isEncrypted(request, config), name));
  const token = cookie();
  const audience = () => connectionUrl(request, target.authority, config).origin;
  const { maxAge } = asked;
  const found = token && (await finders.findUser(token, audience, config.deviceBoundSessions ? cookie("bound") : null));
  const user = found && (maxAge === null || !isOlderThan(maxAge, found.signedInAt)) ? found : null;
  if (user && isMember(user, asked)) return { status: 200, headers: userHeaders(user, asked) };
  const destination = hopsOf(request, config.trustedProxies) > 0 ? navigationUrl(request, target, config) : null;
  if (destination === null && user) return { status: 403 };
  if (destination === null) {
    const headers = asked.tokens ? challengeTo(question, cookieScheme) : notSignedIn;
    return { status: 401, headers };
  }
  const query = new URLSearchParams({ return_to: destination });
  if (!user && maxAge !== null) query.set("max_age", String(maxAge));
  return { status: 302, headers: { Location: `${config.appUrl}${user ? "/no-access" : "/login"}?${query}` } };
}

/** The URL that a browser navigates to, by what the proxy says of its request; `null` for every other request. */
function navigationUrl(request: IncomingMessage, { authority }: Target, config: Config): string | null {
  const { headers } = request;
  const uri = headers["x-forwarded-uri"]?.toString();
  const method = headers["x-forwarded-method"] ?? "GET";
  if (uri === undefined || method !== "GET" || !wantsPage(request)) return null;
  const target = parseTarget(uri);
  return target && connectionUrl(request, authority, config).origin + target.path + target.query;
}

/** Decides by Fetch Metadata, if the browser sends it: an application's `fetch()` may accept HTML too. */
function wantsPage({ headers }: IncomingMessage): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination } = headers;
  if (mode === undefined && destination === undefined) return /text\/html/i.test(headers.accept ?? "");
  return (mode ?? "navigate") === "navigate" && (destination ?? "document") === "document";
}

/** A token decides alone, whatever cookies there are. It is no sign-in, so it has no age. Two are none. */
async function programVerdict(question: Question, asked: Asked, tokens: string[]): Promise<Verdict> {
  const { request, config, finders } = question;
  const [token = ""] = tokens.length === 1 ? tokens : [];
  const user = asked.maxAge === null ? await finders.findProgram(token, namedOrigin(request, config)) : null;
  if (!user) return { status: 401, headers: challengeTo(question, 'Bearer error="invalid_token"') };
  return isMember(user, asked) ? { status: 200, headers: userHeaders(user, asked) } : { status: 403 };
}

/** All schemes on one line: nginx before 1.23 passes on the first line alone. */
function challengeTo({ request, target, config }: Question, scheme: string): Record<string, string> {
  const isBrowser =
    request.headers["sec-fetch-mode"] !== undefined ||
    cookieValues(request.headers.cookie ?? "", sessionCookieName(isEncrypted(request, config))).length > 0;
  // Calendars send a password after a challenge only. A browser would open a dialog for it.
  const asksPassword = !isBrowser && isConfidential(connectionUrl(request, target.authority, config));
  const basic = `Basic realm="${new URL(config.appUrl).host}", charset="UTF-8"`;
  return { "WWW-Authenticate": asksPassword ? `${basic}, ${scheme}` : scheme };
}

const isMember = ({ groups: own }: VerifiedUser, { groups }: Asked) =>
  groups.length === 0 || groups.some((name) => own.includes(name));

/** A header's value is ASCII (RFC 9110, section 5.5), but a person's name need not be. */
function userHeaders({ id, email, name, groups, token }: VerifiedUser, { byEmail }: Asked): Record<string, string> {
  const ascii = encodeURIComponent(name ?? "");
  const user = byEmail ? email : id;
  const own = { "Remote-User": user, "Remote-Email": email, "Remote-Name": ascii, "Remote-Groups": groups.join() };
  return token === undefined ? own : Object.assign(own, { "Remote-Token": token });
}
