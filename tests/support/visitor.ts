import { setCookieOf } from "./cookies";

export interface Answer {
  status: number;
  headers: Headers;
  location: string | null;
  text: string;
}

let visitors = 0;

/** An address of its own for each visitor, so that none meets the limits of another. */
function nextAddress(): string {
  visitors += 1;
  return `10.${process.pid % 250}.${visitors >> 8}.${visitors & 255}`;
}

/** A browser that keeps cookies and follows nothing, behind a proxy that tells its address. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #address: string;

  constructor(url: string, address = nextAddress()) {
    this.#url = url;
    this.#address = address;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(path, { headers });
  }

  /** A form as a browser posts it; give pairs to send a field twice. */
  post(
    path: string,
    fields: Record<string, string> | [string, string][] = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#send(path, {
      method: "POST",
      headers: { Origin: this.#url, ...headers },
      body: new URLSearchParams(fields),
    });
  }

  async #send(path: string, { headers, ...init }: RequestInit): Promise<Answer> {
    const own = { "X-Forwarded-For": this.#address, ...(this.cookies.size > 0 && { Cookie: this.cookie }) };
    const response = await fetch(`${this.#url}${path}`, {
      ...init,
      headers: { ...own, ...(headers as Record<string, string>) },
      redirect: "manual",
    });
    for (const { name, value, expired } of response.headers.getSetCookie().map(setCookieOf)) {
      if (expired) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get("Location"),
      text: await response.text(),
    };
  }
}
