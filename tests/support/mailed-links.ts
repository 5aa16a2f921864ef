import { expect } from "vitest";
import { act, askForAccount, askForReset } from "./account-calls";
import type { Latchkey } from "./latchkey";
import { newPassword, twice } from "./passwords";
import type { Outcome } from "./route-calls";

export interface MailedLink extends Record<string, string> {
  email: string;
  token: string;
}

function lastLink(latchkey: Latchkey, path = ""): MailedLink {
  const link = latchkey.mails().findLast((mail) => !path || mail.link?.pathname === path)?.link;
  return { email: link?.searchParams.get("email") ?? "", token: link?.searchParams.get("token") ?? "" };
}

export async function resetLink(latchkey: Latchkey, email = "ada@example.com"): Promise<MailedLink> {
  await askForReset(email);
  await latchkey.drain();
  return lastLink(latchkey);
}

export async function registrationLink(latchkey: Latchkey, email = "grace@example.com"): Promise<MailedLink> {
  await askForAccount(email);
  await latchkey.drain();
  return lastLink(latchkey);
}

/** Asks on the account page for another address and reads the link from the mail; its fields are empty for none. */
export async function emailChangeLink(latchkey: Latchkey, cookie: string, email: string): Promise<MailedLink> {
  await act(cookie, "change-email", { email });
  await latchkey.drain();
  return lastLink(latchkey, "/account/email");
}

/** The outcome of every request for a mail, with and without an account. */
export const mailSentOutcome = (email: string): Outcome => ({
  status: 200,
  headers: new Headers(),
  location: null,
  data: { status: "sent", email },
  cookies: {},
  formTargets: [],
});

export async function expectInvalidLink(
  latchkey: Latchkey,
  finish: (fields: Record<string, string>) => Promise<Outcome>,
  { email, token }: MailedLink,
  invalidLinkMessage: string,
): Promise<void> {
  const refused = await latchkey.unchanged(() => finish({ email, token, ...twice(newPassword) }));
  expect(refused, token).toMatchObject({
    status: 422,
    data: { typed: { email, token }, invalidLink: invalidLinkMessage },
  });
  expect(refused.cookies).toEqual({});
}
