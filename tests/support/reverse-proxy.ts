import { createServer, type IncomingHttpHeaders, type RequestListener, request } from "node:http";
import https from "node:https";
import type { Certificate } from "./certificates";
import { listen } from "./listen";

export type ReverseProxy = Awaited<ReturnType<typeof startReverseProxy>>;

/** @param rewrite changes the headers that it passes on, with what a good proxy would set at hand */
export async function startReverseProxy(
  upstream: () => number,
  rewrite: (headers: IncomingHttpHeaders, set: { proto: string; host: string; client: string }) => void,
  certificate?: Certificate,
) {
  const proto = certificate ? "https" : "http";
  const forward: RequestListener = (incoming, outgoing) => {
    const headers = { ...incoming.headers };
    rewrite(headers, { proto, host: headers.host ?? "", client: incoming.socket.remoteAddress ?? "" });
    const { method, url: path } = incoming;
    const sent = request({ host: "localhost", port: upstream(), method, path, headers, setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(sent);
  };
  return listen(certificate ? https.createServer(certificate, forward) : createServer(forward));
}
