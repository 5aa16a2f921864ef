import { Visitor } from "./visitor";

/** Consents at the provider as the account of the address, in a new browser. @returns the path of the callback */
export async function consent(
  location: string,
  email: string,
  browser = new Visitor(new URL(location).origin),
): Promise<string> {
  const { origin } = new URL(location);
  const prompts = ["login", "consent"];
  let url = new URL(location);
  while (url.origin === origin) {
    const path = url.pathname + url.search;
    const form = { prompt: prompts[0] ?? "", login: email, password: "any" };
    const isInteraction = path.startsWith("/interaction/");
    const answer = await (isInteraction ? browser.post(path, form) : browser.get(path));
    if (isInteraction) prompts.shift();
    if (!answer.location) throw new Error(`The provider answered ${answer.status}.`);
    url = new URL(answer.location, url);
  }
  return url.pathname + url.search;
}

/** Logs out at the provider, which tells its clients before it answers. */
export async function logOutAtProvider(browser: Visitor): Promise<void> {
  const [, xsrf = ""] = /name="xsrf" value="(\w+)"/.exec((await browser.get("/session/end")).body) ?? [];
  const { status } = await browser.post("/session/end/confirm", { xsrf, logout: "yes" });
  if (status !== 303) throw new Error(`The provider answered ${status}.`);
}
