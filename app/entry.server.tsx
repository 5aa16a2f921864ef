import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import manifest from "@remix-run/dev/assets-manifest";
import type { EntryContext, HandleErrorFunction } from "@remix-run/node";
import { isRouteErrorResponse, RemixServer } from "@remix-run/react";
import { renderToString } from "react-dom/server";
import { disconnectSignal } from "#server/http/request-facts.server";
import { logUnexpected } from "#server/log";
import { start } from "#server/start.server";
import { contentSecurityPolicy, formTargetHeader } from "./page/content-security-policy";
import { fileAnswer } from "./page/files.server";
import { NonceContext } from "./page/nonce";
import { PageProvider } from "./page/page-context";
import { pageOf } from "./page/page-context.server";
import { routeNames } from "./route-names";

// `<Scripts />` preloads the chunks that a route imports, about ten small ones. On a slow connection they would compete
// with the stylesheet and React; imported by the route's module, they arrive at about the same time as React.
for (const route of Object.values(manifest.routes)) delete route.imports;

await start(routeNames(manifest.routes));

/** The body of a plain-text answer that a loader threw (`app/request/responses.ts`); `null` for a page. */
function plainTextOf({ staticHandlerContext: { errors } }: EntryContext, headers: Headers): string | null {
  if (!headers.get("Content-Type")?.startsWith("text/plain")) return null;
  const [error] = Object.values(errors ?? {});
  return isRouteErrorResponse(error) ? String(error.data) : null;
}

/**
 * Remix streams the loaders' data after the page. No loader here defers data, so the data is read first and the page is
 * rendered once. Writes private fields of the entry context, read in Remix 2.17.5.
 */
async function withData(context: EntryContext): Promise<EntryContext> {
  const value = await text(context.serverHandoffStream as ReadableStream<Uint8Array>);
  const read = Object.assign(Promise.resolve(), { result: { done: true, value }, error: undefined });
  return { ...context, serverHandoffStream: new ReadableStream(), renderMeta: { streamCache: { 0: read } } };
}

/** The index routes and the pathless ones inside a route. They have its path. */
function routesAtPathOf(parent: string): string[] {
  const children = Object.values(manifest.routes).filter(({ parentId }) => parentId === parent);
  const inside = children.filter(({ index, path }) => index || path === undefined);
  return inside.flatMap(({ id }) => [id, ...routesAtPathOf(id)]);
}

const routesAtPath = new Map(Object.keys(manifest.routes).map((id) => [id, [id, ...routesAtPathOf(id)]]));

/**
 * Only the routes of this page: for each page, `RemixServer` creates every route of the manifest and matches it twice.
 * The routes at the same paths are among them: a browser that knows a route does not ask the server for its index route, and
 * would show the route empty.
 */
function withOwnRoutes(context: EntryContext): EntryContext {
  const { matches } = context.staticHandlerContext;
  const own = new Set(matches.flatMap(({ route }) => routesAtPath.get(route.id) ?? []));
  const routes = Object.fromEntries(Object.entries(context.manifest.routes).filter(([id]) => own.has(id)));
  return { ...context, manifest: { ...context.manifest, routes } };
}

export default async function handleDocumentRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const plainText = plainTextOf(context, headers);
  if (plainText !== null) return new Response(plainText, { headers, status });
  const file = status === 200 ? fileAnswer(request) : null;
  if (file) return file;
  const nonce = randomBytes(16).toString("base64");
  const page = renderToString(
    <NonceContext.Provider value={nonce}>
      <PageProvider value={pageOf(request)}>
        <RemixServer context={await withData(withOwnRoutes(context))} url={request.url} nonce={nonce} />
      </PageProvider>
    </NonceContext.Provider>,
  );
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentSecurityPolicy(nonce, headers.get(formTargetHeader)));
  headers.delete(formTargetHeader);
  // Bytes with a length: undici would convert the text twice, and the answer would be sent in three writes.
  const body = Buffer.from(`<!DOCTYPE html>${page}`);
  headers.set("Content-Length", String(body.byteLength));
  return new Response(body, { headers, status });
}

/** The data of a page, for a navigation without a page load: the policy is that of the page which is open. */
export function handleDataRequest(response: Response): Response {
  response.headers.delete(formTargetHeader);
  return response;
}

export const handleError: HandleErrorFunction = (error) => {
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!refused && !disconnectSignal()?.aborted) logUnexpected(error);
};
