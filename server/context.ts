import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { processValue } from "./process-value";

/** What the front door knows of a request. No header carries it to the routes, so no client can forge it. */
export interface RequestFacts {
  requestId: string;
  /** As the client sent it. */
  method: string;
  /** As it is logged. */
  path: string;
  /** The header `Host`, as the client sent it. */
  host: string;
  /** Scheme and authority that the browser used, e.g. `https://example.org`. */
  origin: string;
  /** The client's address; of an IPv6 address the /64, which one subscriber has. */
  client: string;
  /** Whether a trusted proxy named the client's address. */
  clientForwarded: boolean;
  /** Whether the browser says that a page of another site sent this. */
  crossSite: boolean;
  /** No route can read its target. */
  unreadable: boolean;
  /** Another origin that the page's forms may redirect to. A route sets it for the page's content security policy. */
  formTarget?: string;
  arrivedAt: Date;
  response: ServerResponse;
}

/** Where a command prints and reads: this process's own, or that of the command line which asked the service. */
export interface Terminal {
  out: Writable & { isTTY?: boolean };
  err: Writable & { isTTY?: boolean };
  readFile(path: string): Promise<Buffer>;
}

type Context = RequestFacts | { jobId: string } | { actor: "cli"; terminal?: Terminal };

const storage = processValue<AsyncLocalStorage<Context>>("context");
storage.current ??= new AsyncLocalStorage();

/** What the work of an asynchronous context is for: a request, a job or an operator's command. */
export const context = storage.current;

export function currentRequest(): RequestFacts | undefined {
  const current = context.getStore();
  return current && "requestId" in current ? current : undefined;
}
