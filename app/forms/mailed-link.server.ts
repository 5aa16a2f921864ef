import { allowedReturn } from "#server/features/visitor/return-to.server";
import { returnToName } from "~/answers/return-to";
import { readFields } from "./form.server";

export interface LinkParameters {
  email: string;
  token: string;
  /** Where the sign-in ends, behind a link that signs in. */
  return_to?: string;
}

/** The parameters of a mailed link, for its form. Neither is looked up: link scanners open links too. */
export function linkParameters(request: Request): LinkParameters {
  const { searchParams } = new URL(request.url);
  return { email: searchParams.get("email") ?? "", token: searchParams.get("token") ?? "" };
}

/** Refuses no field: a missing or malformed one makes the link invalid, or breaks a rule for passwords. */
export async function readLinkForm(request: Request) {
  const names = ["email", "token", "intent", "password", "passwordConfirmation", returnToName];
  const { fields, typed: sent } = await readFields(request, names);
  const { email = "", token = "", intent, password = "", passwordConfirmation = "" } = fields;
  const returnTo = allowedReturn(fields[returnToName] ?? "");
  const { [returnToName]: _, ...typed } = sent;
  if (returnTo !== null) typed[returnToName] = returnTo;
  return { link: { email, token }, intent, newPassword: { email, password, passwordConfirmation }, typed, returnTo };
}

export interface LinkRefusal {
  typed: Record<string, string>;
  invalidLink?: string;
  errors?: Record<string, string>;
}
