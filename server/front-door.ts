import { randomUUID } from "node:crypto";
import diagnostics from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import helmet from "helmet";
import ipaddr from "ipaddr.js";
import morgan from "morgan";
import type { Config } from "./config.server";
import { noted } from "./connection.server";
import { enterRequest } from "./log";

/** Addresses that take no form and have no page to say so. */
const getOnly = new Set(["/", "/auth/idp", "/healthz", "/readyz"]);

const arrival = 20_000; // ms, for a request's head
const completion = 30_000; // ms, for a whole request, slow bodies included

/** RFC 9110, sections 13 and 14: a server may ignore them; express answers some of them with a stack on stderr. */
const ignored = ["range", "if-match", "if-unmodified-since"];

/** For what is no page, should a browser ever show it as one. */
const bareContentPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const headersFor = (https: boolean) =>
  helmet({
    contentSecurityPolicy: false, // the pages' own, with a nonce: app/entry.server.tsx
    referrerPolicy: { policy: "same-origin" },
    strictTransportSecurity: https && { maxAge: 63_072_000 },
    xFrameOptions: { action: "deny" },
    // For browsers and plug-ins of the past alone, on each of a page's many small scripts.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });

const secureHeaders = headersFor(true);
const plainHeaders = headersFor(false);

/** The last value is the one that the trusted proxy itself added. */
function last(header: string | string[] | undefined): string | undefined {
  return header?.toString().split(",").at(-1)?.trim();
}

function parseAuthority(scheme: string, host: string | undefined): URL | null {
  if (!host || !/^[\w.\-:[\]]+$/.test(host) || !URL.canParse(`${scheme}://${host}`)) return null;
  return new URL(`${scheme}://${host}`);
}

interface Target {
  path: string;
  query: string;
  authority: string | undefined;
}

/**
 * RFC 9112, section 3.2: the origin-form, or the absolute-form, whose authority stands for `Host`; `null` for every
 * other spelling. Without dot segments, which could pass a page off as an asset.
 */
function targetOf(url: string): Target | null {
  const [, authority, path, query] = /^(?:https?:\/\/([^/?#]*))?(\/[^?#]*)?(\?[^#]*)?(?:#.*)?$/is.exec(url) ?? [];
  if (authority === undefined && path === undefined) return null;
  return { authority, path: new URL(`http://localhost${path ?? "/"}`).pathname, query: query ?? "" };
}

function connectionUrl(request: IncomingMessage, authority: string | undefined, config: Config): URL {
  const forwarded = (name: string) => (config.trustProxy ? last(request.headers[name]) : undefined);
  const encrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
  const scheme = forwarded("x-forwarded-proto") ?? (encrypted ? "https" : "http");
  const host = forwarded("x-forwarded-host") ?? authority ?? request.headers.host;
  return parseAuthority(scheme === "https" ? "https" : "http", host) ?? new URL(config.appUrl);
}

function clientAddress(request: IncomingMessage, config: Config): string {
  const forwarded = config.trustProxy ? last(request.headers["x-forwarded-for"]) : undefined;
  const text = forwarded && ipaddr.isValid(forwarded) ? forwarded : (request.socket.remoteAddress ?? "");
  if (!ipaddr.isValid(text)) return "unknown";
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString();
}

/** Fetch Standard, "`Origin` header", and Fetch Metadata: only a browser sends them, and a page cannot forge them. */
function comesFromAnotherSite({ headers }: IncomingMessage, own: string): boolean {
  if (headers.origin === undefined) return headers["sec-fetch-site"] === "cross-site";
  return !URL.canParse(headers.origin) || new URL(headers.origin).origin !== own;
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Queries that no page of ours sends, which Remix writes into the log as they came, line breaks included. */
function isForRemix(path: string, query: URLSearchParams): boolean {
  if (query.has("_data")) return true; // its former data requests: an error in the log for each
  return path === "/__manifest" && query.getAll("p").some((page) => !/^\/[\w./-]*$/.test(page));
}

interface Refusal {
  status: 400 | 405;
  allow?: string;
}

function refusal(method: string, target: Target | null): Refusal | null {
  const path = target && decode(target.path);
  const allowed = getOnly.has(path?.toLowerCase().replace(/\/+$/, "") || "/")
    ? ["GET", "HEAD"]
    : ["GET", "HEAD", "POST"];
  if (!allowed.includes(method)) return { status: 405, allow: allowed.join(", ") };
  if (!target || path === null || isForRemix(path, new URLSearchParams(target.query))) return { status: 400 };
  return null;
}

/** What the access log says: no query string, not even one that a mail program has percent-encoded. */
const asked = new WeakMap<object, { method: string; path: string }>();

function noteAsked(request: IncomingMessage, target: Target | null): void {
  const path = (target?.path ?? request.url ?? "").split(/\?|%3f/i, 1)[0] ?? "";
  asked.set(request, { method: request.method ?? "", path });
}

/** Sets what the answer's head does not have by the time that it is written. */
function completeHead(response: ServerResponse): void {
  const writeHead = response.writeHead;
  response.writeHead = function (this: ServerResponse, ...head: unknown[]) {
    if (!this.hasHeader("Cache-Control")) this.setHeader("Cache-Control", "no-store");
    if (!this.hasHeader("Content-Security-Policy")) this.setHeader("Content-Security-Policy", bareContentPolicy);
    return Reflect.apply(writeHead, this, head);
  };
}

function receive(request: IncomingMessage, response: ServerResponse, config: Config): void {
  const { headers } = request;
  const target = targetOf(request.url ?? "");
  const url = connectionUrl(request, target?.authority, config);
  const client = clientAddress(request, config);
  const crossSite = comesFromAnotherSite(request, url.origin);

  for (const name of ignored) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (name.startsWith("latchkey-") || name.startsWith("x-forwarded-")) delete headers[name];
  }
  headers.host = url.host;
  headers[noted.origin] = url.origin;
  headers[noted.client] = client;
  if (crossSite) {
    // Remix answers a foreign origin with an empty 500: the form's reader answers with a page instead.
    headers[noted.crossSite] = "true";
    delete headers.origin;
  }

  noteAsked(request, target);
  const refused = refusal(request.method ?? "", target);
  if (target) request.url = target.path + target.query;
  if (refused !== null) {
    headers[noted.refused] = String(refused.status);
    if (refused.allow) response.setHeader("Allow", refused.allow);
    request.url = "/refused";
    request.method = "GET"; // the Fetch Standard forbids a Request with TRACE
  }

  const setHeaders = url.protocol === "https:" ? secureHeaders : plainHeaders;
  setHeaders(request, response, () => {});
  completeHead(response);
}

interface Arrival {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

export interface FrontDoor {
  /** Answers what has arrived, takes nothing new; resolves when every answer is out. */
  close(): Promise<void>;
}

/**
 * Stands before remix-serve, which has no middleware: Node publishes each request of the process here before any
 * listener sees it.
 */
export function openFrontDoor(config: Config): FrontDoor {
  const open = new Set<ServerResponse>();
  let closing: (() => void) | undefined;

  diagnostics.subscribe("http.server.request.start", (message) => {
    const { request, response, server } = message as Arrival;
    server.headersTimeout = arrival;
    server.requestTimeout = completion;
    enterRequest(randomUUID());
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      if (open.size === 0) closing?.();
    });
    if (closing) response.setHeader("Connection", "close");
    receive(request, response, config);
  });

  // remix-serve logs with this very instance; a query string may hold a token, a code or a state.
  morgan.token("method", (request) => asked.get(request)?.method);
  morgan.token("url", (request) => asked.get(request)?.path);

  return {
    close: () =>
      new Promise((resolve) => {
        closing = resolve;
        if (open.size === 0) resolve();
      }),
  };
}
