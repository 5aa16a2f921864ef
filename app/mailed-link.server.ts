import type { NewPassword } from "#server/features/password-policy.server";
import { readFields } from "./form.server";

export interface LinkParameters {
  email: string;
  token: string;
}

/** The parameters of a mailed link, for its form. Neither is looked up: link scanners open links too. */
export function linkParameters(request: Request): LinkParameters {
  const { searchParams } = new URL(request.url);
  return { email: searchParams.get("email") ?? "", token: searchParams.get("token") ?? "" };
}

/** Reads the form behind a link that asks for nothing else. A missing or malformed field makes the link invalid. */
export async function readLink(request: Request): Promise<Omit<LinkForm, "newPassword">> {
  const { fields, typed } = await readFields(request, ["email", "token"]);
  const { email = "", token = "" } = fields;
  return { link: { email, token }, typed };
}

interface LinkForm {
  link: LinkParameters;
  newPassword: NewPassword;
  typed: Record<string, string>;
}

/**
 * Reads the form behind a mailed link. It refuses no field: a missing or malformed one makes the link invalid, or
 * breaks a rule for passwords, in this order.
 */
export async function readLinkForm(request: Request): Promise<LinkForm> {
  const { fields, typed } = await readFields(request, ["email", "token", "password", "passwordConfirmation"]);
  const { email = "", token = "", password = "", passwordConfirmation = "" } = fields;
  return { link: { email, token }, newPassword: { email, password, passwordConfirmation }, typed };
}

/** Why the form is shown again: the link is invalid, or the password broke a rule. */
export interface LinkRefusal {
  typed: Record<string, string>;
  invalidLink?: string;
  errors?: Record<string, string>;
}
