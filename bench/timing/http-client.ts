import http from "node:http";
import { newClientAddress } from "../../tests/support/client-address";

export interface Answer {
  status: number;
  /** From the first byte sent to the last byte read. */
  milliseconds: number;
  cookie: string;
}

export class HttpClient {
  readonly #port: number;
  readonly #agent: http.Agent;

  constructor(port: number, connections = 1) {
    this.#port = port;
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  post(path: string, fields: Record<string, string>, cookie?: string): Promise<Answer> {
    const body = new URLSearchParams(fields).toString();
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded",
      "Content-Length": Buffer.byteLength(body),
      "X-Forwarded-For": newClientAddress(),
      ...(cookie && { Cookie: cookie }),
    };
    return new Promise((resolve, reject) => {
      const options = { host: "localhost", port: this.#port, path, method: "POST", agent: this.#agent, headers };
      const request = http.request(options, (response) => {
        response.resume();
        response.once("error", reject);
        response.once("end", () => {
          const milliseconds = performance.now() - start;
          const cookie = (response.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]).join("; ");
          resolve({ status: response.statusCode ?? 0, milliseconds, cookie });
        });
      });
      request.once("error", reject);
      const start = performance.now();
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
