import { newClientAddress } from "./client-address";
import { setCookieOf } from "./cookies";
import { type Answer, type Sent, send } from "./http";
import { goodPassword, twice } from "./passwords";
import type { RunningServer } from "./server";

/** An HTTP client that keeps cookies and follows no redirect, behind a proxy that forwards its address. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #origin: string;
  readonly #address: string;
  readonly #transport: typeof send;

  constructor(origin: string, address = newClientAddress(), transport = send) {
    this.#origin = origin;
    this.#address = address;
    this.#transport = transport;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(path, { headers });
  }

  post(path: string, form: Sent["form"] = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(path, { method: "POST", form, headers });
  }

  async #send(path: string, { headers, ...sent }: Sent): Promise<Answer> {
    const forwarded = { "X-Forwarded-For": this.#address, ...headers };
    const answer = await this.#transport(this.#origin, path, { ...sent, cookie: this.cookie, headers: forwarded });
    for (const { name, value, expired } of answer.setCookies.map(setCookieOf)) {
      if (expired) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export async function registerByMail(
  { mail }: Pick<RunningServer, "mail">,
  visitor: Visitor,
  email: string,
  page = "/register",
): Promise<Answer> {
  await visitor.post(page, { email });
  const { link } = await mail(email, "Finish creating your account");
  return visitor.post("/register/complete", {
    ...Object.fromEntries(link?.searchParams ?? []),
    ...twice(goodPassword),
  });
}
