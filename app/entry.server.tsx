import { randomBytes } from "node:crypto";
import manifest from "@remix-run/dev/assets-manifest";
import type { EntryContext, HandleErrorFunction } from "@remix-run/node";
import { isRouteErrorResponse, matchRoutes, RemixServer } from "@remix-run/react";
import { renderToString } from "react-dom/server";
import { factsOf, logFault } from "#server/door/request-facts";
import { contentSecurityPolicy } from "#server/rules";
import { start } from "#server/start";
import { pageOf } from "./document/page";
import { PageProvider } from "./document/page-context";
import { preloadRoutesOnly, renderedOnce } from "./document/remix-internals";
import { languageOf } from "./visitor/visitor";

preloadRoutesOnly(manifest);
const prepare = renderedOnce(manifest);

type Routes = Parameters<typeof matchRoutes>[0];

const routesBelow = (parent?: string): Routes =>
  Object.values(manifest.routes)
    .filter(({ parentId }) => parentId === parent)
    .map((route) => (route.index ? route : { ...route, children: routesBelow(route.id) })) as Routes;

const routes = routesBelow();

await start(routeName);

/** The id of a path's Remix route; `build` for every file of the browser's bundle. */
function routeName(requested: string): string {
  if (requested.startsWith("/build/")) return "build";
  const path = requested === "/_root.data" ? "/" : requested.replace(/\.data$/, "");
  return matchRoutes(routes, path)?.at(-1)?.route.id ?? "none";
}

/** `RemixServer` renders the script with the data behind it, where HTML allows none. */
const pageEnd = "</body></html>";

export default async function handleDocumentRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const body = thrownBody(context, headers);
  if (body !== null) return new Response(body, { headers, status });
  const nonce = randomBytes(16).toString("base64");
  const page = renderToString(
    <PageProvider content={pageOf(languageOf(request), nonce)}>
      <RemixServer context={await prepare(context)} url={request.url} nonce={nonce} />
    </PageProvider>,
  );
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentSecurityPolicy(nonce, factsOf(request).formTargets));
  // Bytes with a length: undici would convert a string twice and send the answer in three writes.
  const html = Buffer.from(`<!DOCTYPE html>${page.replace(pageEnd, "")}${pageEnd}`);
  headers.set("Content-Length", String(html.byteLength));
  return new Response(html, { headers, status });
}

/** The body that a route threw with `plainText` or `jsonFile` (`app/answers/no-page.ts`); `null` for a page. */
function thrownBody({ staticHandlerContext: { errors } }: EntryContext, headers: Headers): string | null {
  const [error] = Object.values(errors ?? {});
  if (!isRouteErrorResponse(error)) return null;
  if (headers.has("Content-Disposition")) return `${JSON.stringify(error.data, null, 2)}\n`;
  return headers.get("Content-Type")?.startsWith("text/plain") ? String(error.data) : null;
}

export const handleError: HandleErrorFunction = (error) => {
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!refused) logFault(error);
};
