import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { createReadableStreamFromReadable, type EntryContext, type HandleErrorFunction } from "@remix-run/node";
import { isRouteErrorResponse, RemixServer } from "@remix-run/react";
import { renderToPipeableStream } from "react-dom/server";
import { logUnexpected } from "#server/log.server";
import { start } from "#server/start.server";
import { NonceContext } from "./nonce";

await start();

const renderDeadline = 5_000; // ms

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

export default function handleDocumentRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  const nonce = randomBytes(16).toString("base64");
  return new Promise((resolve, reject) => {
    let statusCode = status;
    const { pipe, abort } = renderToPipeableStream(
      <NonceContext.Provider value={nonce}>
        <RemixServer context={context} url={request.url} nonce={nonce} abortDelay={renderDeadline} />
      </NonceContext.Provider>,
      {
        nonce,
        onAllReady() {
          clearTimeout(deadline);
          const body = new PassThrough();
          headers.set("Content-Type", "text/html; charset=utf-8");
          headers.set("Content-Security-Policy", contentSecurityPolicy(nonce));
          resolve(new Response(createReadableStreamFromReadable(body), { headers, status: statusCode }));
          pipe(body);
        },
        onShellError(error) {
          clearTimeout(deadline);
          reject(error);
        },
        onError(error) {
          statusCode = 500;
          logUnexpected(error);
        },
      },
    );
    const deadline = setTimeout(abort, renderDeadline);
  });
}

export const handleError: HandleErrorFunction = (error, { request }) => {
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!refused && !request.signal.aborted) logUnexpected(error);
};
