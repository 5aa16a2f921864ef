import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../config";
import { context, type RequestFacts } from "../process/context";
import { measureDuration, type RouteOf } from "../process/metrics";
import { loggedPath, replaceAccessLogTokens } from "./access-log";
import { takeRequests } from "./connections";
import { answerEndpoint, type Endpoint, type EndpointOf } from "./endpoint-answers";
import { answerVerification, type Finders, verifyPath } from "./forward-authentication";
import { clientOf, comesFromAnotherSite, connectionUrl } from "./forwarded";
import { isReadable, manifestPath, parseTarget, type Target } from "./request-target";
import { setSecurityHeaders } from "./response-headers";

/** express answers some of the first three with a stack trace on stderr; Remix takes the last as the browser's host. */
const ignoredHeaders = ["range", "if-match", "if-unmodified-since", "x-forwarded-host"];

/** `/auth/verify` takes 0.2 ms of CPU here, a Remix route without work 0.9 to 1.4 ms (docs/performance.md). */
export function openFrontDoor(config: Config, lookups: Finders & { endpointOf: EndpointOf; routeOf: RouteOf }) {
  replaceAccessLogTokens();
  return takeRequests((request, response, pass) => {
    const target = parseTarget(request.url ?? "");
    if (target?.path === verifyPath) {
      measureDuration(request, response, () => verifyPath);
      void answerVerification(response, { request, target, config, finders: lookups });
      return;
    }
    const facts = prepare(response, target, config);
    const endpoint = facts.unreadable ? undefined : lookups.endpointOf(target?.path ?? "");
    if (endpoint && takes(endpoint, facts.method)) {
      measureDuration(request, response, () => endpoint.name);
      context.run(facts, () => void answerEndpoint(endpoint, facts, pass));
      return;
    }
    if (endpoint) {
      request.method = "PUT"; // no route takes it: a page with 405
      if (endpoint.method) response.setHeader("Allow", endpoint.method);
    }
    measureDuration(request, response, lookups.routeOf);
    context.run(facts, pass);
  });
}

function prepare(response: ServerResponse, target: Target | null, config: Config): RequestFacts {
  const { req: request } = response;
  const { headers, method = "", url: sentTarget = "" } = request;
  const { host = "" } = headers;
  const url = connectionUrl(request, target?.authority, config);
  const crossSite = comesFromAnotherSite(request, url.origin);
  const unreadable = !target || !isReadable(target);
  for (const name of ignoredHeaders) delete headers[name];
  if (crossSite) delete headers.origin; // Remix answers it with an empty 500; the routes answer `crossSite` with 403
  headers.host = url.host;
  setTarget(request, target, unreadable);
  setSecurityHeaders(request, response, url.protocol === "https:");
  return {
    requestId: randomUUID(),
    method,
    path: loggedPath(target?.path ?? sentTarget),
    host,
    origin: url.origin,
    ...clientOf(request, config),
    crossSite,
    unreadable,
    formTargets: new Set(),
    arrivedAt: new Date(),
    response,
  };
}

const readMethods = ["GET", "HEAD"];
const routeMethods = [...readMethods, "POST"];

/** Rewrites a request that no route can handle, so that a route refuses it with a page. */
function setTarget(request: IncomingMessage, target: Target | null, unreadable: boolean): void {
  const manifest = target?.path === manifestPath;
  const refused = !(manifest ? readMethods : routeMethods).includes(request.method ?? "");
  // No route takes PUT. The Fetch Standard forbids a Request with TRACE, and Remix calls no route with OPTIONS.
  if (refused) request.method = "PUT";
  request.url = !target || unreadable || (manifest && refused) ? "/unreadable" : target.path + target.query;
}

const takes = ({ method }: Endpoint, sent: string) =>
  method === undefined ? readMethods.includes(sent) : method === "any" || method === sent;
