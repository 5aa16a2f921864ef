import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const mostUnanswered = 16; // of one connection; a server may close one at any time (RFC 9112, section 9.3.2)

/** The responses of a connection that are not sent yet, in the order of their requests; what begins each that waits. */
type Unanswered = Map<ServerResponse, (() => void) | null>;

const connections = new WeakMap<Socket, Unanswered>();

function unansweredOn(socket: Socket): Unanswered {
  const known = connections.get(socket);
  if (known) return known;
  const unanswered: Unanswered = new Map();
  connections.set(socket, unanswered);
  socket.once("close", () => {
    for (const response of unanswered.keys()) {
      if (response.socket) continue; // Node closes it
      response.destroy();
      response.emit("close");
    }
  });
  return unanswered;
}

/**
 * Closes the response when its connection is closed. The responses of pipelined requests (RFC 9112, section 9.3.2) get the
 * socket one after the other, and Node closes only the one that has it: the others would never emit "close" when the
 * client hangs up.
 */
export function closeWithConnection(socket: Socket, response: ServerResponse): Unanswered {
  const unanswered = unansweredOn(socket);
  if (unanswered.has(response)) return unanswered;
  unanswered.set(response, null);
  response.once("close", () => {
    unanswered.delete(response);
    const [begin] = unanswered.values();
    if (!socket.destroyed) begin?.();
  });
  if (unanswered.size > mostUnanswered) socket.destroy();
  return unanswered;
}

/**
 * Begins to answer a request when every earlier one of its connection is answered. Begun at once, the answers of files
 * that wait for the socket hold their files open, and never close them when the client hangs up (send 0.19).
 */
export function beginInOrder(socket: Socket, response: ServerResponse, begin: () => void): void {
  const unanswered = closeWithConnection(socket, response);
  const [first] = unanswered.keys();
  if (first === response) begin();
  else unanswered.set(response, AsyncResource.bind(begin)); // the log reads the id of the request from its context
}
