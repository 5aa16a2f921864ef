import { Visitor } from "../support/visitor";

/** Consents at the provider as the account of the address. @returns the path of the callback */
export async function consent(location: string, email: string): Promise<string> {
  const { origin } = new URL(location);
  const browser = new Visitor(origin);
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
