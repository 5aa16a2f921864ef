import diagnostics from "node:diagnostics_channel";
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from "node:http";

/**
 * Offers each request of each HTTP server of the process to `take` before the server's own listeners, which get only what
 * it does not take. remix-serve creates its server itself, with its listener; Node publishes each server on this channel
 * before it listens.
 */
export function takeRequests(take: (request: IncomingMessage, response: ServerResponse) => boolean): void {
  diagnostics.subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: unknown };
    if (!(server instanceof Server)) return;
    const listeners = server.listeners("request") as RequestListener[];
    server.removeAllListeners("request");
    server.on("request", (request, response) => {
      if (take(request, response)) return;
      for (const listener of listeners) listener.call(server, request, response);
    });
  });
}
