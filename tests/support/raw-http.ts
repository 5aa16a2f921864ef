import net from "node:net";

export interface RawAnswer {
  /** `0`: the connection was closed without an answer. */
  status: number;
  /** Lower-case names; a repeated header's values are joined by `, `. */
  headers: Record<string, string>;
  body: string;
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end === -1 ? text.length : end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0), headers, body: text.slice(end + 4) };
}

/** Sends bytes that no HTTP client would, and reads until the server closes. */
export function exchange(port: number, lines: string[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "localhost");
    let text = "";
    socket.setEncoding("latin1");
    socket.once("error", reject);
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.once("end", () => resolve(parse(text)));
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  });
}
