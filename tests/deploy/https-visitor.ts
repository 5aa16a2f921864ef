import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { Answer, send } from "../support/http";
import { Visitor } from "../support/visitor";

export const publicHost = "login.example.com";

/** `NODE_OPTIONS` of a program whose TLS connections to the public host go to a port of this machine. */
export function publicHostOn(port: number): string {
  const redirected = `import tls from "node:tls";
    const { connect } = tls;
    tls.connect = (options) =>
      connect(options.host === "${publicHost}" ? { ...options, host: "127.0.0.1", port: ${port} } : options);`;
  return `--import=data:text/javascript,${encodeURIComponent(redirected)}`;
}

/** Sends to the public host on a port of this machine, from an address on the loopback network. */
const sendOverTls =
  (port: number, ca: string, localAddress: string): typeof send =>
  (origin, path, { method = "GET", form, cookie, headers } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const start = performance.now();
      const posted = form && { Origin: origin, "Content-Type": "application/x-www-form-urlencoded" };
      const sent = request({
        ...{ host: "127.0.0.1", port, localAddress, servername: publicHost, ca, agent: false, method, path },
        headers: { Host: publicHost, ...(cookie && { Cookie: cookie }), ...posted, ...headers },
      });
      sent.once("error", reject);
      sent.once("response", async (response) => {
        const pairs = Object.entries(response.headersDistinct);
        const received = new Headers(
          pairs.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])),
        );
        resolve({
          status: response.statusCode ?? 0,
          headers: received,
          location: received.get("Location"),
          contentType: received.get("Content-Type"),
          setCookies: received.getSetCookie(),
          body: await text(response),
          milliseconds: performance.now() - start,
        });
      });
      sent.end(form && new URLSearchParams(form).toString());
    });

/** A visitor of the public host, whose client claims another address than it has. */
export const visitOverTls = (port: number, ca: string, address = "127.0.0.1") =>
  new Visitor(`https://${publicHost}`, undefined, sendOverTls(port, ca, address));
