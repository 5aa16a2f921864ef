import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";

const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

const parameters = ["sslmode=verify-full", "sslmode=require", "sslmode=no-verify", "ssl=true"];
test.each(parameters)("with %s a server without TLS gets neither user nor password", async (parameter) => {
  const received: Buffer[] = [];
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received.push(bytes);
      socket.end("N");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const opened = openDatabase(`postgresql://latchkey:s3cret@127.0.0.1:${port}/latchkey?${parameter}`);
  await expect(opened).rejects.toThrow(/cannot be used: The server does not support SSL connections\.$/);
  expect(Buffer.concat(received)).toEqual(sslRequest);
});

test("a certificate authority that cannot be read is named without the URL's password", async () => {
  const opened = openDatabase("postgresql://latchkey:s3cret@127.0.0.1:1/latchkey?sslrootcert=/nowhere/ca.pem");
  await expect(opened).rejects.toThrow(
    "The URL of the database cannot be used: ENOENT: no such file or directory, open '/nowhere/ca.pem'.",
  );
});
