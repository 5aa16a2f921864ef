import { sendPlainly } from "../support/http";
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

/** A visitor of the public host on a port of this machine, whose client claims another address than it has. */
export const visitOverTls = (port: number, ca: string, localAddress = "127.0.0.1") =>
  new Visitor(`https://${publicHost}`, undefined, (origin, path, sent) =>
    sendPlainly(origin, path, {
      ...sent,
      connection: { hostname: "127.0.0.1", port, localAddress, servername: publicHost, ca },
    }),
  );
