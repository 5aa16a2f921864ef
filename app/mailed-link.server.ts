import { emailAddress, readText } from "./forms.server";

export interface LinkParameters {
  email: string;
  token: string;
}

/** The address and the token of a mailed link, for its form. Neither is looked up: link scanners open links too. */
export function linkParameters(request: Request): LinkParameters {
  const { searchParams } = new URL(request.url);
  return { email: searchParams.get("email") ?? "", token: searchParams.get("token") ?? "" };
}

/**
 * What the page behind a mailed link posts. No field is refused here: one that is missing or malformed makes the link
 * invalid, or breaks a rule for passwords, in that order.
 */
export async function readLinkForm(request: Request) {
  const { given, typed } = await readText(request, ["email", "token", "password", "passwordConfirmation"]);
  const { token = "", password = "", passwordConfirmation = "" } = given;
  const email = emailAddress.safeParse(given.email).data ?? "";
  return { link: { email, token }, newPassword: { email, password, passwordConfirmation }, typed };
}

/** Why the form is shown again: the link is dead, or the password broke a rule. */
export interface LinkRefusal {
  typed: Record<string, string>;
  dead?: string;
  errors?: Record<string, string>;
}
