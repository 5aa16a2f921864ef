import * as authorize from "~/routes/auth.idp._index";
import * as callback from "~/routes/auth.idp_.callback";
import * as login from "~/routes/login";
import { setCookieOf } from "./cookies";
import { call, get, type Outcome, type RequestOptions } from "./route-calls";

/** The pages of a sign-in at the provider, by their path. */
export const signInRoutes = new Map<string, { loader: unknown }>([
  ["/auth/idp", authorize],
  ["/auth/idp/callback", callback],
  ["/login", login],
]);

export const pathOf = (location: string) => new URL(location, "http://localhost").pathname;

export const callbackOf = (state: string, answer: Record<string, string> = { code: "c" }) =>
  `/auth/idp/callback?${new URLSearchParams({ state, ...answer })}`;

/** The tabs of one browser. It sends cookies in the order in which they were set (RFC 6265, section 5.4), by their path. */
export class BrowserTabs {
  readonly cookies = new Map<string, string>();

  cookieFor(path: string): string {
    const sent = [...this.cookies].filter(([name]) => !name.startsWith("oauth_") || path.startsWith("/auth/idp"));
    return sent.map((pair) => pair.join("=")).join("; ");
  }

  async open(location: string, options: RequestOptions = {}): Promise<Outcome> {
    const path = pathOf(location);
    const outcome = await call(
      signInRoutes.get(path)?.loader,
      get(location, { cookie: this.cookieFor(path), ...options }),
    );
    for (const { name, value, expired } of outcome.headers.getSetCookie().map(setCookieOf)) {
      if (expired) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return outcome;
  }

  /** Leaves for the consent screen, in a tab of its own. @returns the attempt's state */
  async leave(search = ""): Promise<string> {
    const { location } = await this.open(`/auth/idp${search}`);
    return new URL(location ?? "").searchParams.get("state") ?? "";
  }
}
