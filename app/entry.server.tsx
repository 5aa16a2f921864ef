import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import type { EntryContext, HandleErrorFunction } from "@remix-run/node";
import { isRouteErrorResponse, RemixServer } from "@remix-run/react";
import { renderToString } from "react-dom/server";
import { logUnexpected } from "#server/log.server";
import { start } from "#server/start.server";
import { NonceContext } from "./nonce";

await start();

function contentSecurityPolicy(nonce: string): string {
  const liveReload = process.env.NODE_ENV === "development" ? " ws:" : "";
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' https: data:",
    `connect-src 'self'${liveReload}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Remix streams the loaders' data behind the page. No loader here answers in parts, so the data is read first and one
 * pass renders both.
 */
async function withData(context: EntryContext): Promise<EntryContext> {
  const value = await text(context.serverHandoffStream as ReadableStream<Uint8Array>);
  const read = Object.assign(Promise.resolve(), { result: { done: true, value }, error: undefined });
  return { ...context, serverHandoffStream: new ReadableStream(), renderMeta: { streamCache: { 0: read } } };
}

export default async function handleDocumentRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const nonce = randomBytes(16).toString("base64");
  const page = renderToString(
    <NonceContext.Provider value={nonce}>
      <RemixServer context={await withData(context)} url={request.url} nonce={nonce} />
    </NonceContext.Provider>,
  );
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentSecurityPolicy(nonce));
  return new Response(`<!DOCTYPE html>${page}`, { headers, status });
}

export const handleError: HandleErrorFunction = (error, { request }) => {
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!refused && !request.signal.aborted) logUnexpected(error);
};
