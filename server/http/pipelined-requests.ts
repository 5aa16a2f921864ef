import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const mostPipelined = 16; // of one connection; a server may close one at any time (RFC 9112, section 9.5)

interface Pipeline {
  /** The responses that are not sent yet, in the order of their requests; what begins each that waits. */
  unanswered: Map<ServerResponse, (() => void) | null>;
  /** Requests that came in this turn of the event loop, answered or not. */
  arrived: number;
}

const pipelines = new WeakMap<Socket, Pipeline>();

function pipelineOf(socket: Socket): Pipeline {
  const known = pipelines.get(socket);
  if (known) return known;
  const pipeline: Pipeline = { unanswered: new Map(), arrived: 0 };
  pipelines.set(socket, pipeline);
  socket.once("close", () => {
    for (const response of pipeline.unanswered.keys()) {
      if (response.socket) continue; // Node closes it
      response.destroy();
      response.emit("close");
    }
  });
  return pipeline;
}

/** Counts a request. Node parses the 64 KB that it has read in one turn: what is answered at once would never end it. */
function isFull(pipeline: Pipeline): boolean {
  if (pipeline.arrived === 0) {
    setImmediate(() => {
      pipeline.arrived = 0;
    });
  }
  pipeline.arrived++;
  return pipeline.arrived > mostPipelined || pipeline.unanswered.size > mostPipelined;
}

/** Begins the first response of a pipeline, if that still waits. */
function beginFirst({ unanswered }: Pipeline): void {
  const [first] = unanswered;
  if (!first?.[1]) return;
  const [response, begin] = first;
  unanswered.set(response, null);
  begin();
}

/**
 * Adds a response to the pipeline of its connection: it closes when the connection is closed, and a connection with too
 * many requests is destroyed. The responses of pipelined requests (RFC 9112, section 9.3.2) get the socket one after the
 * other, and Node closes only the one that has it: the others would never emit "close" when the client hangs up.
 */
export function addToPipeline(socket: Socket, response: ServerResponse): void {
  const pipeline = pipelineOf(socket);
  pipeline.unanswered.set(response, null);
  response.once("close", () => {
    pipeline.unanswered.delete(response);
    if (!socket.destroyed) beginFirst(pipeline);
  });
  if (isFull(pipeline)) socket.destroy();
}

/**
 * Begins to answer a request when every earlier one of its connection is answered. Begun at once, the answers of files
 * that wait for the socket hold their files open, and never close them when the client hangs up (send 0.19).
 *
 * @param response in the pipeline of the connection
 */
export function beginInOrder(socket: Socket, response: ServerResponse, begin: () => void): void {
  const { unanswered } = pipelineOf(socket);
  const [first] = unanswered.keys();
  if (first === response) begin();
  else unanswered.set(response, AsyncResource.bind(begin)); // the log reads the id of the request from its context
}
