import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { context, type RequestFacts } from "#server/context";

const origin = "http://localhost:3000";

export interface RequestOptions {
  cookie?: string | undefined;
  headers?: Record<string, string> | undefined;
}

export function get(path: string, { cookie, headers }: RequestOptions = {}): Request {
  return new Request(new URL(path, origin), { headers: { ...(cookie && { Cookie: cookie }), ...headers } });
}

export function post(
  path: string,
  fields: Record<string, string> | [string, string][],
  { cookie, headers }: RequestOptions = {},
): Request {
  return new Request(new URL(path, origin), {
    method: "POST",
    headers: { Origin: origin, ...(cookie && { Cookie: cookie }), ...headers },
    body: new URLSearchParams(fields),
  });
}

export interface Outcome {
  status: number;
  headers: Headers;
  location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its page's data
  data: any;
  /** The value that each cookie is set to; empty for one that is cleared. */
  cookies: Record<string, string>;
  /** The origin that the page's policy names for its forms. */
  formTarget: string | undefined;
}

type RouteFunction = (args: LoaderFunctionArgs & ActionFunctionArgs) => unknown;

const responseTo = (gone: boolean) =>
  Object.defineProperty(new ServerResponse(new IncomingMessage(new Socket())), "closed", { value: gone });

/** What the front door would know; a test states it in headers, which only this function reads. */
const factsOf = ({ headers, method, url }: Request): RequestFacts => ({
  requestId: crypto.randomUUID(),
  method,
  path: new URL(url).pathname,
  host: headers.get("latchkey-host") ?? new URL(url).host,
  origin: headers.get("latchkey-origin") ?? new URL(url).origin,
  client: headers.get("latchkey-client") ?? "unknown",
  clientForwarded: false,
  crossSite: headers.has("latchkey-cross-site"),
  unreadable: headers.has("latchkey-unreadable"),
  response: responseTo(headers.has("latchkey-gone")),
});

async function settle(route: RouteFunction, request: Request, facts: RequestFacts): Promise<unknown> {
  try {
    const args = { request, params: {}, context: {} } as LoaderFunctionArgs & ActionFunctionArgs;
    return await context.run(facts, () => route(args));
  } catch (thrown) {
    if (thrown instanceof Response) return thrown;
    throw thrown;
  }
}

function outcome(status: number, headers: Headers, data: unknown, { formTarget }: RequestFacts): Outcome {
  const cookies = headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line)?.slice(1) ?? []);
  return { status, headers, location: headers.get("Location"), data, cookies: Object.fromEntries(cookies), formTarget };
}

export async function call(route: unknown, request: Request): Promise<Outcome> {
  const facts = factsOf(request);
  const result = await settle(route as RouteFunction, request, facts);
  if (result instanceof Response) return outcome(result.status, result.headers, await result.text(), facts);
  const { data, init, type } = Object(result) as { data?: unknown; init?: ResponseInit; type?: string };
  if (type !== "DataWithResponseInit") return outcome(200, new Headers(), result, facts);
  return outcome(init?.status ?? 200, new Headers(init?.headers), data, facts);
}
