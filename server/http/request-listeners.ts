import diagnostics from "node:diagnostics_channel";
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from "node:http";
import { onePerTurn } from "./one-per-turn";
import { beginInOrder } from "./pipelined-requests";

interface Rules {
  /** Answers the request, or returns false. */
  take(request: IncomingMessage, response: ServerResponse): boolean;
  /** Whether the server's own listeners get the request before others that came earlier. */
  isUrgent(request: IncomingMessage): boolean;
}

/**
 * Offers each request of each HTTP server of the process to `take`, those of one connection in order. What it does not
 * take goes to the server's own listeners, one urgent request and one other in a turn of the event loop, if its client
 * still waits. remix-serve creates its server itself, with its listener; Node publishes each server on this channel before
 * it listens.
 */
export function takeRequests({ take, isUrgent }: Rules): void {
  const inTurn = onePerTurn();
  const urgentInTurn = onePerTurn();
  diagnostics.subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: unknown };
    if (!(server instanceof Server)) return;
    const listeners = server.listeners("request") as RequestListener[];
    server.removeAllListeners("request");
    server.on("request", (request, response) => {
      if (request.socket.destroyed) return;
      const pass = () => {
        if (response.destroyed) return;
        for (const listener of listeners) listener.call(server, request, response);
      };
      beginInOrder(request.socket, response, () => {
        if (take(request, response)) return;
        if (isUrgent(request)) urgentInTurn(pass);
        else inTurn(pass);
      });
    });
  });
}
