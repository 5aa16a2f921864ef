import * as passkey from "~/routes/auth.passkey";
import { act } from "./account-calls";
import type { Authenticator, Changes } from "./authenticator";
import { call, type Outcome, post, type RequestOptions } from "./route-calls";

/** The browser's options of a ceremony, and the cookie that its challenge is bound to. */
export async function ask(purpose: "sign-in" | "add" | "upgrade", browser: RequestOptions = {}) {
  const asked = await call(passkey.action, post("/auth/passkey", { purpose }, browser));
  const bound = Object.entries(asked.cookies).map(([name, value]) => `${name}=${value}`);
  const options = asked.data === "" ? null : JSON.parse(asked.data);
  return { ...asked, options, cookie: [browser.cookie, ...bound].filter(Boolean).join("; ") };
}

/** Adds a passkey on the account page of the session in `cookie`. */
export async function addPasskey(
  authenticator: Authenticator,
  cookie: string,
  changes: Changes & { name?: string } = {},
) {
  const asked = await ask("add", { cookie });
  const answer = authenticator.create(asked.options, changes);
  return act(asked.cookie, "add-passkey", { passkey: answer, name: changes.name ?? "" });
}

export async function answerWith(answer: string, options: RequestOptions = {}): Promise<Outcome> {
  const done = await call(passkey.action, post("/auth/passkey", { passkey: answer }, options));
  return done.status < 400 ? done : { ...done, data: JSON.parse(done.data) };
}

/** Signs in with the newest passkey. */
export async function signInBy(authenticator: Authenticator, changes: Changes = {}, options: RequestOptions = {}) {
  const asked = await ask("sign-in", options);
  return answerWith(authenticator.get(asked.options, changes), { ...options, cookie: asked.cookie });
}
