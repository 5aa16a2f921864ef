import diagnostics from "node:diagnostics_channel";
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from "node:http";
import { MetricsServer } from "./metrics-server";

/** ms. A head ends within 20 seconds and a request within 30, the interval between two checks included. */
export const timeLimits = {
  headersTimeout: 18_000,
  requestTimeout: 28_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 130_000, // Caddy keeps an idle connection for 120 s, Traefik for 90, nginx for 60.
  timeout: 60_000, // within a request, without a byte in either direction, for clients that do not read their answer
};

type TakeRequest = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void;

const clientLimit = 5_000; // ms of the shutdown limit
const clientInterval = 1_000; // ms

/** remix-serve has no middleware; Node publishes each server on this channel before it listens. */
const listens = "tracing:net.server.listen:asyncStart";

/** Takes the requests of the next server that listens. The metrics' server before it gets the limits alone. */
export function takeRequests(take: TakeRequest, limits = timeLimits) {
  const open = new Set<ServerResponse>();
  let closing: (() => void) | undefined;

  function onRequest(this: Server, listener: RequestListener, request: IncomingMessage, response: ServerResponse) {
    // Pipelined (RFC 9112, section 9.3.2): an earlier response has the socket. Browsers, nginx and Caddy do not do it.
    if (response.socket === null) {
      response.writeHead(503, { Connection: "close", "Content-Length": 0 }).end();
      return;
    }
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      if (open.size === 0) closing?.();
    });
    // Node drops the rest of the packet after an `Upgrade` that nothing takes: the next packet of a form would be read
    // as a request.
    if (closing || request.headers.upgrade) response.setHeader("Connection", "close");
    take(request, response, () => listener.call(this, request, response));
  }

  let reportListening: () => void;
  const listening = new Promise<void>((resolve) => {
    reportListening = resolve;
  });

  function takeServer(message: unknown): void {
    const { server } = message as { server: unknown };
    if (!(server instanceof Server)) return;
    Object.assign(server, limits);
    if (server instanceof MetricsServer) return;
    diagnostics.unsubscribe(listens, takeServer);
    const [listener] = server.listeners("request") as [RequestListener];
    server.removeAllListeners("request").on("request", onRequest.bind(server, listener));
    server.once("listening", reportListening);
  }

  diagnostics.subscribe(listens, takeServer);

  return {
    /** Resolves when a server listens, after its own listeners have run. */
    listening,
    /** Resolves when every answer is sent. A client that has not sent or read everything in time is disconnected. */
    close: () =>
      new Promise<void>((resolve) => {
        closing = resolve;
        diagnostics.unsubscribe(listens, takeServer);
        if (open.size === 0) resolve();
        for (const response of open) {
          if (!response.headersSent) response.setHeader("Connection", "close");
        }
        const disconnectClients = () => {
          for (const response of [...open].filter(waitsForClient)) response.req.socket.destroy();
          setTimeout(disconnectClients, clientInterval).unref();
        };
        setTimeout(disconnectClients, clientLimit).unref();
      }),
  };
}

const waitsForClient = ({ req, writableEnded, writableNeedDrain }: ServerResponse) =>
  !req.complete || writableEnded || writableNeedDrain;
