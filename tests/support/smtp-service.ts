import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, onTestFinished } from "vitest";

interface AcceptedMail {
  from: string;
  to: string[];
  secure: boolean;
  user: string | undefined;
  /** Header lines by lower-case name, unfolded. */
  headers: Record<string, string>;
  text: string;
}

export const login = { user: "latch key", pass: "p@ss/wörd" };

export const refuse = (responseCode: number) => Object.assign(new Error("refused for a reason"), { responseCode });

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function headersOf(message: string): Record<string, string> {
  const head = message.slice(0, message.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  return Object.fromEntries(
    head.split("\r\n").map((line) => [line.split(":")[0]!.toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
}

/** An SMTP server on loopback until the end of the test. It accepts every mail, unless `options` change that. */
export async function startSmtpServer(options?: SMTPServerOptions) {
  const { stop, ...server } = await openSmtpServer(options);
  onTestFinished(stop);
  return server;
}

/** {@link startSmtpServer} for the tests of one file. */
export async function runSmtpServer(options?: SMTPServerOptions) {
  const { stop, ...server } = await openSmtpServer(options);
  afterAll(stop);
  return server;
}

async function openSmtpServer(options: SMTPServerOptions = {}) {
  const mails: AcceptedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    onAuth: ({ username, password }, _session, callback) =>
      username === login.user && password === login.pass ? callback(null, { user: username }) : callback(refuse(535)),
    onData(stream, { envelope, secure, user }, callback) {
      buffer(stream).then((bytes) => {
        const message = bytes.toString("latin1");
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map(({ address }) => address),
          secure,
          user: user as string | undefined,
          headers: headersOf(message),
          text: decodeQuotedPrintable(message),
        });
        callback();
      });
    },
    closeTimeout: 1, // ms until idle connections are closed at the end
    ...options,
    onConnect(session, callback) {
      connections++;
      if (options.onConnect) options.onConnect.call(server, session, callback);
      else callback();
    },
  });
  server.on("error", () => {}); // Clients that do not trust the certificate close the connection.
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => server.close(resolve));
  return { port, mails, connections: () => connections, stop };
}

/** A server until the end of the test that calls `answer` for each line of an SMTP client. */
export async function startScriptedServer(answer: (line: string | null, socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const line of chunk.toString("latin1").split("\r\n").filter(Boolean)) answer(line, socket);
    });
    answer(null, socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port };
}
