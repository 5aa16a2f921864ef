import { request } from "node:https";
import { setCookieOf } from "../support/cookies";

export const publicHost = "login.example.com";

export interface HttpsAnswer {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  setCookies: string[];
  body: string;
}

interface Sent {
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

/** An HTTPS client of the public host on a port of this machine. It keeps cookies and follows no redirect. */
export class HttpsVisitor {
  readonly cookies = new Map<string, string>();
  readonly #port: number;
  readonly #ca: string;
  readonly #address: string;

  /** @param address the address on the loopback network that it connects from */
  constructor(port: number, ca: string, address = "127.0.0.1") {
    this.#port = port;
    this.#ca = ca;
    this.#address = address;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<HttpsAnswer> {
    return this.#send("GET", path, { headers });
  }

  post(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<HttpsAnswer> {
    return this.#send("POST", path, { form, headers: { Origin: `https://${publicHost}`, ...headers } });
  }

  #send(method: string, path: string, { form, headers }: Sent): Promise<HttpsAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return new Promise((resolve, reject) => {
      const sent = request({
        host: "127.0.0.1",
        port: this.#port,
        localAddress: this.#address,
        servername: publicHost,
        ca: this.#ca,
        agent: false,
        method,
        path,
        headers: {
          Host: publicHost,
          ...(cookie && { Cookie: cookie }),
          ...(form && { "Content-Type": "application/x-www-form-urlencoded" }),
          ...headers,
        },
      });
      sent.once("error", reject);
      sent.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const setCookies = response.headers["set-cookie"] ?? [];
          for (const { name, value, expired } of setCookies.map(setCookieOf)) {
            if (expired) this.cookies.delete(name);
            else this.cookies.set(name, value);
          }
          const body = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, setCookies, body });
        });
      });
      sent.end(form && new URLSearchParams(form).toString());
    });
  }
}
