import { createServer } from "node:http";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../support/listen";
import { onOneHost, type ProxyName, register, startExample } from "./example";

/** A port before another one, with the connections to it. */
async function counted(portBehind: () => number) {
  const connections: net.Socket[] = [];
  const server = net.createServer((socket) => {
    connections.push(socket);
    const behind = net.connect(portBehind(), "127.0.0.1");
    socket
      .on("error", () => behind.destroy())
      .pipe(behind)
      .on("error", () => socket.destroy())
      .pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  return { port: (server.address() as net.AddressInfo).port, connections };
}

test.each<ProxyName>(["nginx", "caddy"])(
  "%s keeps its connections to Latchkey and to the application",
  async (proxy) => {
    let behind = 0;
    const latchkey = await counted(() => behind);
    const installation = await onOneHost(proxy);
    const configuration = installation.configuration.replaceAll(":3000", `:${latchkey.port}`);
    let accepted = 0;
    const example = await startExample({ ...installation, configuration }, async (port) => {
      const application = createServer((_request, response) => response.end("a note"));
      application.on("connection", () => accepted++);
      return listen(application, port);
    });
    onTestFinished(() => example.stop());
    behind = example.server.port;
    const visitor = await register(example, "ada@example.com");
    await visitor.get("/notes");
    const opened = { latchkey: latchkey.connections.length, application: accepted };

    for (let n = 0; n < 20; n++) expect(await visitor.get("/notes")).toMatchObject({ status: 200, body: "a note" });
    expect({ latchkey: latchkey.connections.length, application: accepted }).toEqual(opened);
  },
);
