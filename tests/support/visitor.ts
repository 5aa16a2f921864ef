import { newClientAddress } from "./client-address";
import { setCookieOf } from "./cookies";
import { type Answer, type Sent, send } from "./http";
import { goodPassword, newPassword, twice } from "./passwords";
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
    const isCallback = path.startsWith("/auth/idp/callback?"); // it takes navigations alone
    return this.#send(path, { headers: { ...(isCallback && { "Sec-Fetch-Mode": "navigate" }), ...headers } });
  }

  post(path: string, form: Sent["form"] = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(path, { method: "POST", form, headers });
  }

  logIn(email = "ada@example.com", password = goodPassword): Promise<Answer> {
    return this.post("/login", { email, password });
  }

  askForReset(email = "ada@example.com"): Promise<Answer> {
    return this.post("/forgot-password", { email });
  }

  /** Posts the form of a mailed reset link. */
  reset(link: Record<string, string>, password = newPassword): Promise<Answer> {
    return this.post("/reset-password", { ...link, ...twice(password) });
  }

  /** Posts the form of a mailed registration link. */
  finishRegistration(link: Record<string, string>): Promise<Answer> {
    return this.post("/register/complete", { ...link, ...twice(goodPassword) });
  }

  async register({ mail }: Pick<RunningServer, "mail">, email: string, page = "/register"): Promise<Answer> {
    await this.post(page, { email });
    const { link } = await mail(email, "Finish creating your account");
    return this.finishRegistration(Object.fromEntries(link?.searchParams ?? []));
  }

  /** Leaves for the provider. @returns the state with which it comes back */
  async leave(): Promise<string> {
    const { location } = await this.get("/auth/idp");
    return new URL(location ?? "").searchParams.get("state") ?? "";
  }

  comeBack(parameters: Record<string, string>): Promise<Answer> {
    return this.get(`/auth/idp/callback?${new URLSearchParams(parameters)}`);
  }

  async signInExternally(): Promise<Answer> {
    return this.comeBack({ code: "code", state: await this.leave() });
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
