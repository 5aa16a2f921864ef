import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";

const origin = "http://localhost:3000";

interface RequestOptions {
  cookie?: string;
  headers?: Record<string, string>;
}

export function get(path: string, { cookie, headers }: RequestOptions = {}): Request {
  return new Request(new URL(path, origin), { headers: { ...(cookie && { Cookie: cookie }), ...headers } });
}

/** A form as a browser posts it; give pairs to send a field twice. */
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

/** The result of a loader or an action, returned or thrown. */
export interface Outcome {
  status: number;
  headers: Headers;
  location: string | null;
  /** Page data; for a bare Response, its text. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of its page's data
  data: any;
  /** The value that each cookie is set to; empty for one that is cleared. */
  cookies: Record<string, string>;
}

type RouteFunction = (args: LoaderFunctionArgs & ActionFunctionArgs) => unknown;

async function settle(route: RouteFunction, request: Request): Promise<unknown> {
  try {
    return await route({ request, params: {}, context: {} } as LoaderFunctionArgs & ActionFunctionArgs);
  } catch (thrown) {
    if (thrown instanceof Response) return thrown;
    throw thrown;
  }
}

function outcome(status: number, headers: Headers, data: unknown): Outcome {
  const cookies = headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line)?.slice(1) ?? []);
  return { status, headers, location: headers.get("Location"), data, cookies: Object.fromEntries(cookies) };
}

/** Calls a loader or an action with a request, as Remix does. */
export async function call(route: unknown, request: Request): Promise<Outcome> {
  const result = await settle(route as RouteFunction, request);
  if (result instanceof Response) return outcome(result.status, result.headers, await result.text());
  const { data, init, type } = Object(result) as { data?: unknown; init?: ResponseInit; type?: string };
  if (type !== "DataWithResponseInit") return outcome(200, new Headers(), result);
  return outcome(init?.status ?? 200, new Headers(init?.headers), data);
}
