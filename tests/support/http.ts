import { type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { request as overTls } from "node:https";
import { text } from "node:stream/consumers";
import type { SecureContextOptions } from "node:tls";

export interface Answer {
  status: number;
  headers: Headers;
  location: string | null;
  contentType: string | null;
  setCookies: string[];
  body: string;
  /** From the request to the last byte of the answer. */
  milliseconds: number;
}

export interface Sent {
  method?: string;
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string> | [string, string][];
  body?: string;
  /** Where to connect to, when that is not the host of the URL, and whom to trust there. */
  connection?: RequestOptions & SecureContextOptions & { servername?: string };
}

/** With no header that is not asked for, but those of a form. On a new connection. No redirect is followed. */
export async function sendPlainly(origin: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { cookie, form, connection } = sent;
  const body = form ? new URLSearchParams(form).toString() : sent.body;
  const headers = {
    Connection: "close",
    ...(body !== undefined && { Origin: origin, "Content-Length": String(Buffer.byteLength(body)) }),
    ...(form && { "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8" }),
    ...(cookie && { Cookie: cookie }),
    ...(connection && { Host: new URL(origin).host }),
    ...sent.headers,
  };
  const request = origin.startsWith("https:") ? overTls : overHttp;
  const method = sent.method ?? (body === undefined ? "GET" : "POST");
  const start = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${origin}${path}`, { method, headers, ...connection }, resolve)
      .once("error", reject)
      .end(body);
  });
  const received = await text(response);
  const pairs = Object.entries(response.headersDistinct);
  const answered = new Headers(
    pairs.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])),
  );
  return {
    status: response.statusCode ?? 0,
    headers: answered,
    location: answered.get("Location"),
    contentType: answered.get("Content-Type"),
    setCookies: answered.getSetCookie(),
    body: received,
    milliseconds: performance.now() - start,
  };
}

/** As a script's `fetch()` in a page of the server. */
export const send = (origin: string, path: string, sent: Sent = {}): Promise<Answer> =>
  sendPlainly(origin, path, { ...sent, headers: { Accept: "*/*", "Sec-Fetch-Mode": "cors", ...sent.headers } });
