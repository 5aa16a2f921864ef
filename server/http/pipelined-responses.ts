import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const unanswered = new WeakMap<Socket, Set<ServerResponse>>();

function unansweredOn(socket: Socket): Set<ServerResponse> {
  const known = unanswered.get(socket);
  if (known) return known;
  const responses = new Set<ServerResponse>();
  unanswered.set(socket, responses);
  socket.once("close", () => {
    for (const response of responses) {
      if (response.socket) continue; // Node closes it
      response.destroy();
      response.emit("close");
    }
  });
  return responses;
}

/**
 * Closes the response when its connection is closed. The responses of pipelined requests (RFC 9112, section 9.3.2) get the
 * socket one after the other, and Node closes only the one that has it: the others would never emit "close" when the
 * client hangs up.
 */
export function closeWithConnection(socket: Socket, response: ServerResponse): void {
  const responses = unansweredOn(socket);
  responses.add(response);
  response.once("close", () => responses.delete(response));
}
