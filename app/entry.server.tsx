import { randomBytes } from "node:crypto";
import manifest from "@remix-run/dev/assets-manifest";
import type { EntryContext, HandleErrorFunction } from "@remix-run/node";
import { isRouteErrorResponse, RemixServer } from "@remix-run/react";
import { renderToString } from "react-dom/server";
import { factsOf, logFault } from "#server/door/request-facts";
import { start } from "#server/start";
import { contentSecurityPolicy, pageOf } from "./document/page";
import { PageProvider } from "./document/page-context";
import { preloadRoutesOnly, renderedOnce } from "./document/remix-internals";
import { routeNames } from "./route-names";
import { languageOf } from "./visitor/visitor";

preloadRoutesOnly(manifest);
const prepare = renderedOnce(manifest);

await start(routeNames(manifest.routes));

/** The text that a loader threw with `plainText` (`app/answers/responses.ts`); `null` for a page. */
function plainTextOf({ staticHandlerContext: { errors } }: EntryContext, headers: Headers): string | null {
  if (!headers.get("Content-Type")?.startsWith("text/plain")) return null;
  const [error] = Object.values(errors ?? {});
  return isRouteErrorResponse(error) ? String(error.data) : null;
}

export default async function handleDocumentRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const plainText = plainTextOf(context, headers);
  if (plainText !== null) return new Response(plainText, { headers, status });
  const nonce = randomBytes(16).toString("base64");
  const page = renderToString(
    <PageProvider content={pageOf(languageOf(request), nonce)}>
      <RemixServer context={await prepare(context)} url={request.url} nonce={nonce} />
    </PageProvider>,
  );
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentSecurityPolicy(nonce, factsOf(request).formTarget));
  // Bytes with a length: undici would convert a string twice and send the answer in three writes.
  const body = Buffer.from(`<!DOCTYPE html>${page}`);
  headers.set("Content-Length", String(body.byteLength));
  return new Response(body, { headers, status });
}

export const handleError: HandleErrorFunction = (error) => {
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!refused) logFault(error);
};
