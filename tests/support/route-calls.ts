import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { context, type RequestFacts } from "#server/process/context";

const origin = "http://localhost:3000";

/** What the front door would know of a request; without them the request is one of this origin. */
type Facts = Partial<
  Pick<RequestFacts, "method" | "host" | "origin" | "path" | "client" | "crossSite" | "arrivedAt">
> & {
  gone?: true;
};

const factsByRequest = new WeakMap<Request, Facts>();

export interface RequestOptions {
  cookie?: string | undefined;
  headers?: Record<string, string> | undefined;
  facts?: Facts | undefined;
}

function requestTo(path: string, { cookie, headers, facts = {} }: RequestOptions, init: RequestInit = {}): Request {
  const sent = { ...init.headers, ...(cookie && { Cookie: cookie }), ...headers };
  const request = new Request(new URL(path, origin), { ...init, headers: sent });
  factsByRequest.set(request, facts);
  return request;
}

export const get = (path: string, options: RequestOptions = {}) => requestTo(path, options);

export const post = (path: string, fields: Record<string, string> | [string, string][], options: RequestOptions = {}) =>
  requestTo(path, options, { method: "POST", headers: { Origin: origin }, body: new URLSearchParams(fields) });

export interface Outcome {
  status: number;
  headers: Headers;
  location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its page's data
  data: any;
  /** The value that each cookie is set to; empty for one that is cleared. */
  cookies: Record<string, string>;
  /** The other origins that the page's policy names for its forms. */
  formTargets: string[];
}

type RouteFunction = (args: LoaderFunctionArgs & ActionFunctionArgs) => unknown;

const responseTo = (gone: boolean) =>
  Object.defineProperty(new ServerResponse(new IncomingMessage(new Socket())), "closed", { value: gone });

export function factsAbout(request: Request): RequestFacts {
  const { pathname, host, origin } = new URL(request.url);
  const { gone = false, ...given } = factsByRequest.get(request) ?? {};
  return {
    requestId: crypto.randomUUID(),
    method: request.method,
    path: pathname,
    host,
    origin,
    client: "unknown",
    clientForwarded: false,
    crossSite: false,
    unreadable: false,
    formTargets: new Set(),
    arrivedAt: new Date(),
    response: responseTo(gone),
    ...given,
  };
}

async function settle(route: RouteFunction, request: Request, facts: RequestFacts): Promise<unknown> {
  try {
    const args = { request, params: {}, context: {} } as LoaderFunctionArgs & ActionFunctionArgs;
    return await context.run(facts, () => route(args));
  } catch (thrown) {
    if (thrown instanceof Response) return thrown;
    throw thrown;
  }
}

function outcome(status: number, headers: Headers, data: unknown, facts: RequestFacts): Outcome {
  const cookies = headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line)?.slice(1) ?? []);
  const location = headers.get("Location");
  return { status, headers, location, data, cookies: Object.fromEntries(cookies), formTargets: [...facts.formTargets] };
}

export async function call(route: unknown, request: Request): Promise<Outcome> {
  const facts = factsAbout(request);
  const result = await settle(route as RouteFunction, request, facts);
  if (result instanceof Response) return outcome(result.status, result.headers, await result.text(), facts);
  const { data, init, type } = Object(result) as { data?: unknown; init?: ResponseInit; type?: string };
  if (type !== "DataWithResponseInit") return outcome(200, new Headers(), result, facts);
  return outcome(init?.status ?? 200, new Headers(init?.headers), data, facts);
}
