import { beforeEach, expect } from "vitest";
import { userHandle } from "#server/accounts/passkeys/ceremonies";
import { rpId } from "#server/accounts/passkeys/relying-party";
import { Passkey } from "#server/database/entities";
import { query } from "#server/database/unit-of-work";
import * as passkey from "~/routes/auth.passkey";
import { act } from "./account-calls";
import { Authenticator, type Changes } from "./authenticator";
import type { Latchkey } from "./latchkey";
import { call, type Outcome, post, type RequestOptions } from "./route-calls";

/** An account with a session and an authenticator: new ones before each test. */
export function passkeyOwner(latchkey: Latchkey) {
  const owner = { userId: "", session: "", authenticator: new Authenticator() };
  beforeEach(async () => {
    owner.userId = await latchkey.createUser();
    owner.session = await latchkey.signedIn(owner.userId);
    owner.authenticator = new Authenticator();
  });
  return owner;
}

/** The browser's options of a ceremony, and the cookie that its challenge is bound to. */
export async function ask(purpose: "sign-in" | "add" | "upgrade", browser: RequestOptions = {}) {
  const asked = await call(passkey.action, post("/auth/passkey", { purpose }, browser));
  const bound = Object.entries(asked.cookies).map(([name, value]) => `${name}=${value}`);
  const options = asked.data === "" ? null : JSON.parse(asked.data);
  return { ...asked, options, cookie: [browser.cookie, ...bound].filter(Boolean).join("; ") };
}

/** A passkey of the account, as {@link addPasskey} leaves it, without its ceremony, event and mail. */
export async function storePasskey(authenticator: Authenticator, userId: string, name = "An unknown browser") {
  authenticator.create({ challenge: "", user: { id: Buffer.from(userHandle(userId)).toString("base64url") } });
  const { credentialId } = authenticator;
  const { publicKey } = authenticator.credentials.at(-1)!;
  await query((em) =>
    em.insert(Passkey, {
      credentialId,
      user: userId,
      rpId: rpId(),
      publicKey,
      counter: 0,
      transports: ["internal"],
      backedUp: false,
      userVerified: true,
      name,
      createdAt: new Date(),
      lastUsedAt: null,
      questionedAt: null,
    }),
  );
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

interface PasskeyRow {
  credential_id: string;
  user_id: string;
  counter: string;
  backed_up: boolean;
  user_verified: boolean;
  name: string;
  last_used_at: string | null;
}

export const passkeyRows = () => query((em) => em.execute<PasskeyRow[]>("select * from passkeys order by created_at"));

export const passkeyChallenges = () => query((em) => em.execute("select * from passkey_challenges"));

/** Lets minutes of the challenges' time pass. */
export const ageChallenges = (minutes: number) =>
  query((em) =>
    em.execute("update passkey_challenges set expires_at = expires_at - ? * interval '1 minute'", [minutes]),
  );

export async function answerWith(answer: string, options: RequestOptions = {}): Promise<Outcome> {
  const done = await call(passkey.action, post("/auth/passkey", { passkey: answer }, options));
  return done.status < 400 ? done : { ...done, data: JSON.parse(done.data) };
}

/** Signs in with the newest passkey. */
export async function signInBy(authenticator: Authenticator, changes: Changes = {}, options: RequestOptions = {}) {
  const asked = await ask("sign-in", options);
  return answerWith(authenticator.get(asked.options, changes), { ...options, cookie: asked.cookie });
}

export const refusedSignIn = {
  status: 422,
  location: null,
  data: { message: "Signing in with the passkey did not work. Try again, or log in another way." },
};

/** The answer is refused as every other one; nothing changes but that a failed sign-in counts for its client. */
export async function expectRefused(latchkey: Latchkey, answer: () => Promise<unknown>, reason: string) {
  expect(await latchkey.unchanged(answer, "rate_limits", "passkey_challenges", "account_events")).toMatchObject(
    refusedSignIn,
  );
  expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason });
}

/** A sign-in with the newest passkey is refused. */
export async function expectNoSignIn(
  latchkey: Latchkey,
  authenticator: Authenticator,
  reason: string,
  changes?: Changes,
) {
  const asked = await ask("sign-in");
  const answer = authenticator.get(asked.options, changes);
  await expectRefused(latchkey, () => answerWith(answer, { cookie: asked.cookie }), reason);
}
