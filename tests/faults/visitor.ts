import http from "node:http";
import { text } from "node:stream/consumers";

export interface Answer {
  status: number;
  location: string | null;
  contentType: string;
  body: string;
  milliseconds: number;
}

let visitors = 0;

/** A browser without a page: keeps its cookies, follows no redirect, and has a client address of its own. */
export class Visitor {
  readonly #origin: string;
  readonly #client: string;
  readonly cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
    const n = visitors++;
    this.#client = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  }

  get(path: string): Promise<Answer> {
    return this.#request("GET", path);
  }

  post(path: string, fields: Record<string, string>): Promise<Answer> {
    return this.#request("POST", path, new URLSearchParams(fields).toString());
  }

  async #request(method: string, path: string, body?: string): Promise<Answer> {
    const start = performance.now();
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      "X-Forwarded-For": this.#client,
      ...(cookie && { Cookie: cookie }),
      ...(body !== undefined && { "Content-Type": "application/x-www-form-urlencoded" }),
    };
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request(new URL(path, this.#origin), { method, headers, agent: false }, resolve);
      request.once("error", reject);
      request.end(body);
    });
    const received = await text(response);
    for (const line of response.headers["set-cookie"] ?? []) this.#keep(line);
    return {
      status: response.statusCode ?? 0,
      location: response.headers.location ?? null,
      contentType: response.headers["content-type"] ?? "",
      body: received,
      milliseconds: performance.now() - start,
    };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value) this.cookies.set(name, value);
    else this.cookies.delete(name);
  }
}
