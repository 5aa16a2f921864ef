import { randomUUID } from "node:crypto";
import diagnostics from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Config } from "../config";
import { enterRequest } from "../log";
import { recordForAccessLog, replaceAccessLogTokens } from "./access-log";
import { clientOf, comesFromAnotherSite, connectionUrl } from "./connection";
import { answerVerification, type FindUser, verifyPath } from "./forward-authentication";
import { MetricsServer } from "./metrics-server";
import { addToPipeline } from "./pipelined-requests";
import { measureDuration, type RouteOf } from "./request-durations";
import { factHeaders, watchDisconnect } from "./request-facts.server";
import { takeRequests } from "./request-listeners";
import { isReadable, manifestPath, parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";
import { limitRequestTimes } from "./time-limits";

/** A server may ignore these (RFC 9110, sections 13 and 14); express answers some of them with a stack on stderr. */
const ignoredHeaders = ["range", "if-match", "if-unmodified-since"];

/** Replaces the forwarded headers that a client sent by the facts of its connection. */
function setFacts(request: IncomingMessage, url: URL, config: Config): void {
  const { headers } = request;
  const client = clientOf(request, config);
  const crossSite = comesFromAnotherSite(request, url.origin);
  for (const name of Object.keys(headers)) {
    if (name.startsWith("latchkey-") || name.startsWith("x-forwarded-")) delete headers[name];
  }
  headers.host = url.host;
  headers[factHeaders.origin] = url.origin;
  headers[factHeaders.client] = client.address;
  if (client.forwarded) headers[factHeaders.clientForwarded] = "true";
  if (crossSite) {
    // Remix answers a foreign `Origin` with an empty 500; readForm answers this header with a 403 page.
    headers[factHeaders.crossSite] = "true";
    delete headers.origin;
  }
}

/** Urgent: if they waited behind a rush of other requests, a supervisor would take the service for dead. */
const healthChecks = /^\/(healthz|readyz)(\?|$)/;

const readMethods = ["GET", "HEAD"];
const routeMethods = [...readMethods, "POST"];

/** Rewrites what no route can take, so that a route refuses it with a page. */
function setTarget(request: IncomingMessage, target: Target | null): void {
  const method = request.method ?? "";
  const unreadable = !isReadable(target);
  if (unreadable) request.headers[factHeaders.unreadable] = "true";
  const manifest = target?.path === manifestPath;
  const refused = !(manifest ? readMethods : routeMethods).includes(method);
  // No route takes PUT. The Fetch Standard forbids a Request with TRACE, and Remix calls no route with OPTIONS.
  if (refused) request.method = "PUT";
  request.url = unreadable || (manifest && refused) ? "/unreadable" : target.path + target.query;
}

/** Prepares a request for remix-serve. */
function prepare(request: IncomingMessage, response: ServerResponse, target: Target | null, config: Config): void {
  const url = connectionUrl(request, target?.authority, config);
  for (const name of ignoredHeaders) delete request.headers[name];
  if (request.method !== "POST") delete request.headers["content-type"]; // on loaders it says that a form was refused
  setFacts(request, url, config);
  recordForAccessLog(request, target);
  setTarget(request, target);
  setSecurityHeaders(request, response, url.protocol === "https:");
}

/** The message of Node's `http.server.request.start` channel. */
interface RequestStart {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

const clientLimit = 5_000; // ms of the shutdown limit
const clientInterval = 1_000; // ms

/**
 * Whether the client has the next step: to send the rest of its form, or to read the answer. Only the first response of a
 * connection has the socket: while it is computed, the client may be late with a later request.
 */
const waitsForClient = ({ socket, req, writableEnded, writableNeedDrain }: ServerResponse) =>
  socket !== null && (!req.complete || writableEnded || writableNeedDrain);

export interface FrontDoor {
  /**
   * Closes each connection after its next answer, without those to requests that it has pipelined; resolves when every answer is sent. A client that has not sent or read
   * everything after five seconds, or any second later, is disconnected.
   */
  close(): Promise<void>;
}

/**
 * Prepares each request before remix-serve sees it. remix-serve has no middleware, but Node publishes each request of
 * the process on this channel before any listener gets it.
 *
 * A proxy asks `/auth/verify` for every request to the application behind it. It is answered here, in 0.2 ms of CPU: a
 * Remix route without any work takes 0.9 to 1.4 ms (docs/performance.md).
 */
export function openFrontDoor(config: Config, findUser: FindUser, routeOf: RouteOf): FrontDoor {
  limitRequestTimes();
  const verifications = new WeakMap<IncomingMessage, Target>();
  takeRequests({
    take(request, response) {
      const target = verifications.get(request);
      if (target) void answerVerification(request, response, target, config, findUser);
      return target !== undefined;
    },
    isUrgent: ({ url = "" }) => healthChecks.test(url),
  });
  const open = new Set<ServerResponse>();
  let closing: (() => void) | undefined;

  diagnostics.subscribe("http.server.request.start", (message) => {
    const { request, response, server } = message as RequestStart;
    if (request.socket.destroyed) {
      // Node parses the rest of the 64 KB that it has read, and would make an error with a stack for each request: 6 MB of
      // pipelined requests held up the process for 29 s.
      request.destroy();
      return;
    }
    addToPipeline(request.socket, response);
    if (server instanceof MetricsServer) return;
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      if (open.size === 0) closing?.();
    });
    // Node drops the rest of the packet after an `Upgrade` that nothing takes: the next packet of a form would be read as a
    // request.
    if (closing || request.headers.upgrade) response.setHeader("Connection", "close");
    const target = parseTarget(request.url ?? "");
    if (target?.path === verifyPath) {
      verifications.set(request, target);
      measureDuration(request, response, () => verifyPath);
      return;
    }
    enterRequest(randomUUID());
    watchDisconnect(response);
    prepare(request, response, target, config);
    measureDuration(request, response, routeOf);
  });

  replaceAccessLogTokens();

  return {
    close: () =>
      new Promise((resolve) => {
        closing = resolve;
        if (open.size === 0) resolve();
        for (const response of open) {
          if (!response.headersSent) response.setHeader("Connection", "close");
        }
        const disconnectClients = () => {
          for (const response of [...open].filter(waitsForClient)) response.req.socket.destroy();
          setTimeout(disconnectClients, clientInterval).unref();
        };
        setTimeout(disconnectClients, clientLimit).unref();
      }),
  };
}
