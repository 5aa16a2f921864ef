import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function listen(server: Pick<Server, "listen" | "address" | "close" | "closeAllConnections">, port = 0) {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
