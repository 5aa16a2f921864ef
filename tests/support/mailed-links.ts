import * as forgotPassword from "~/routes/forgot-password";
import * as register from "~/routes/register";
import type { startLatchkey } from "./latchkey";
import { call, post } from "./requests";

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
