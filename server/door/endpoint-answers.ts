import { DatabaseUnavailable } from "../errors";
import { logUnexpected } from "../log";
import type { RequestFacts } from "../process/context";
import { unavailableRetryAfter } from "../rules";

/** An answer for programs, not a page. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
  gzipped?: Uint8Array;
}

/** Answers GET and HEAD before Remix, or POST, or every method: a Remix route costs a millisecond. */
export interface Endpoint {
  /** The name of its requests in the metrics. */
  name: string;
  method?: "POST" | "any";
  /** `null`: nothing is here, and Remix answers with the page of a 404. */
  answer(facts: RequestFacts): Answer | null | Promise<Answer | null>;
}

/** @param path as the client sent it, decodable */
export type EndpointOf = (path: string) => Endpoint | undefined;

export const plainText = (body: string, status = 200): Answer => ({
  status,
  headers: { "Content-Type": "text/plain; charset=utf-8" },
  body,
});

export const json = (content: object, headers: Record<string, string> = {}, status = 200): Answer => ({
  status,
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(content),
});

/** @param pass passes the request to Remix */
export async function answerEndpoint(endpoint: Endpoint, facts: RequestFacts, pass: () => void): Promise<void> {
  const { response } = facts;
  const answer = await Promise.resolve(facts).then(endpoint.answer).catch(failure);
  if (answer === null) return pass();
  const { method, headers } = response.req;
  const gzipped = /\bgzip\b/.test(headers["accept-encoding"]?.toString() ?? "") ? answer.gzipped : undefined;
  if (answer.gzipped) response.setHeader("Vary", "Accept-Encoding");
  if (gzipped) response.setHeader("Content-Encoding", "gzip");
  const body = gzipped ?? answer.body;
  response.writeHead(answer.status, { ...answer.headers, "Content-Length": Buffer.byteLength(body) });
  response.end(method === "HEAD" ? undefined : body);
}

export function failure(error: unknown): Answer {
  const headers = { "Retry-After": unavailableRetryAfter };
  if (error instanceof DatabaseUnavailable) return { status: 503, headers, body: "" };
  logUnexpected(error);
  return { status: 500, headers: {}, body: "" };
}
