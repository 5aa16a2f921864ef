import { acceptPasskey, type NewPasskey } from "../../accounts/passkeys/creation";
import { hashPassword } from "../../accounts/passwords/password-hashing";
import { sha256 } from "../../crypto/tokens";
import { logEvent } from "../../log";
import type { Visitor } from "../../visitor/visitor";
import { type PasswordProblem, passwordProblem } from "./password-policy";

/** What the form of a mailed link posts; "" for a field that was not sent. */
export type LinkForm = Record<"email" | "token" | "password" | "passwordConfirmation" | "passkey", string>;

/** What the account gets: a password, which is hashed already, or a passkey. */
export type NewWayIn = { passwordHash: string } | { passkey: NewPasskey };

export function refuseLink(event: "password_reset.refused" | "registration.refused"): "invalid_link" {
  logEvent({ event, reason: "invalid_link" });
  return "invalid_link";
}

export type LinkPurpose = "reset" | "register";

/** Verifies the form's password or passkey; exactly one of them is allowed. @throws HashingOverloaded */
export async function acceptWayIn(
  visitor: Visitor,
  purpose: LinkPurpose,
  form: LinkForm,
): Promise<NewWayIn | { problem: PasswordProblem | "passkey" }> {
  const { token, password, passwordConfirmation, passkey: text } = form;
  if (text === "") {
    const problem = await passwordProblem(form);
    return problem ? { problem } : { passwordHash: await hashPassword(visitor, password) };
  }
  if (password !== "" || passwordConfirmation !== "") return { problem: "passkey" };
  const passkey = await acceptPasskey(visitor, challengePurpose(purpose, token), text);
  return passkey === "refused" ? { problem: "passkey" } : { passkey };
}

/** For the challenge of a passkey: another link, or another kind of link, cannot use it. */
export const challengePurpose = (purpose: LinkPurpose, token: string) => `${purpose}:${sha256(token)}` as const;
