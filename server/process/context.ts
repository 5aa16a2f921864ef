import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { ownTerminal, type Terminal } from "./terminal";
import { processValue } from "./value";

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
  /** Other origins that the page's forms may redirect to. A route adds them for the page's content security policy. */
  formTargets: Set<string>;
  arrivedAt: Date;
  response: ServerResponse;
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

export const terminal = (): Terminal => askingTerminal() ?? ownTerminal;

/** The terminal of the command line that asked this process; `undefined` for a command of its own. */
export function askingTerminal(): Terminal | undefined {
  const current = context.getStore();
  return current && "actor" in current ? current.terminal : undefined;
}
