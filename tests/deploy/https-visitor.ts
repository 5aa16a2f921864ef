import { sendPlainly } from "../support/http";
import { Visitor } from "../support/visitor";

export const publicHost = "login.example.com";

/** A visitor of the public host on a port of this machine, whose client claims another address than it has. */
export const visitOverTls = (port: number, ca: string, localAddress = "127.0.0.1") =>
  new Visitor(`https://${publicHost}`, undefined, (origin, path, sent) =>
    sendPlainly(origin, path, {
      ...sent,
      connection: { hostname: "127.0.0.1", port, localAddress, servername: publicHost, ca },
    }),
  );
