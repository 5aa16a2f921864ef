import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Answer, Sent } from "./http";

/** Sends a request without a body as it is: `fetch()` adds `Sec-Fetch-Mode: cors` to each. On a new connection. */
export async function sendPlainly(
  origin: string,
  path: string,
  { method, cookie, headers }: Sent = {},
): Promise<Answer> {
  const start = performance.now();
  const sent = { Connection: "close", ...(cookie && { Cookie: cookie }), ...headers };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${origin}${path}`, { method: method ?? "GET", headers: sent }, resolve)
      .once("error", reject)
      .end();
  });
  const body = await text(response);
  const received = new Headers();
  for (const [name, value] of Object.entries(response.headersDistinct)) {
    for (const one of value ?? []) received.append(name, one);
  }
  return {
    status: response.statusCode ?? 0,
    headers: received,
    location: received.get("Location"),
    contentType: received.get("Content-Type"),
    setCookies: received.getSetCookie(),
    body,
    milliseconds: performance.now() - start,
  };
}
