import net from "node:net";

function parse(text: string) {
  const end = text.indexOf("\r\n\r\n");
  const [, ...lines] = text.slice(0, end === -1 ? text.length : end).split("\r\n");
  /** Lower-case names; a repeated header's values are joined by `, `. */
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return { status: statusOf(text), headers, body: text.slice(end + 4) };
}

/**
 * Sends raw bytes; resolves with everything received until the server closes the connection.
 *
 * @param then bytes to send when the answer has begun
 */
export function sendBytes(port: number, bytes: string, then = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "localhost");
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      if (answer === "" && then) socket.write(then);
      answer += chunk;
    });
    // A server that refuses a request may reset the connection before it has read all of it.
    socket.once("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
    socket.once("close", () => resolve(answer));
    socket.write(bytes, "latin1");
  });
}

/** The status of an answer; `0` when the connection was closed without one. */
export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

export const exchange = async (port: number, lines: string[], then?: string) =>
  parse(await sendBytes(port, `${lines.join("\r\n")}\r\n\r\n`, then));
