import { expect } from "vitest";
import * as forgotPassword from "~/routes/forgot-password";
import * as register from "~/routes/register";
import type { startLatchkey } from "./latchkey";
import { call, type Outcome, post } from "./route-calls";
import { twice } from "./twice";

type Latchkey = ReturnType<typeof startLatchkey>;

/** The fields that a mailed link carries, as its form posts them. */
export interface MailedLink extends Record<string, string> {
  email: string;
  token: string;
}

function lastLink(latchkey: Latchkey): MailedLink {
  const link = latchkey.mails().at(-1)?.link;
  return { email: link?.searchParams.get("email") ?? "", token: link?.searchParams.get("token") ?? "" };
}

/** Asks for a reset link as the page does, and opens the mail. */
export async function resetLink(latchkey: Latchkey, email = "ada@example.com"): Promise<MailedLink> {
  await call(forgotPassword.action, post("/forgot-password", { email }));
  await latchkey.drain();
  return lastLink(latchkey);
}

/** Asks for a registration link as the page does, and opens the mail. */
export async function registrationLink(latchkey: Latchkey, email = "grace@example.com"): Promise<MailedLink> {
  await call(register.action, post("/register", { email }));
  await latchkey.drain();
  return lastLink(latchkey);
}

/** What the page comes to that says to look for a mail, whether there will be one or not. */
export const mailIsOnItsWay = (email: string): Outcome => ({
  status: 200,
  headers: new Headers(),
  location: null,
  data: { status: "sent", email },
  cookies: {},
});

/** Expects that `finish` refuses the link even with a good password, and changes nothing. */
export async function expectDeadLink(
  latchkey: Latchkey,
  finish: (fields: Record<string, string>) => Promise<Outcome>,
  { email, token }: MailedLink,
  dead: string,
): Promise<void> {
  const before = await latchkey.snapshot();
  const refused = await finish({ email, token, ...twice("a brand new password") });
  expect(refused, token).toMatchObject({ status: 422, data: { typed: { email, token }, invalidLink: dead } });
  expect(refused.cookies).toEqual({});
  expect(await latchkey.snapshot()).toEqual(before);
}
