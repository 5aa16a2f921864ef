import { allowedReturn } from "~/answers/responses";
import { returnToName } from "~/answers/return-to";
import { readFields } from "./form";

export interface LinkParameters {
  email: string;
  token: string;
  /** Where the sign-in leads, if the link signs in. */
  return_to?: string;
}

export interface OpenedLink extends LinkParameters {
  problem: "incomplete" | "dead" | null;
}

/**
 * The parameters of a mailed link, for its form. Mail clients damage links: `&amp;` for `&`, `=3D` for `=`, a decoded
 * `+` in the address, and punctuation, spaces or line breaks around and within the token.
 */
export function linkParameters(request: Request): LinkParameters {
  const { searchParams } = new URL(request.url);
  const sent = (name: string) => searchParams.get(name) ?? searchParams.get(`amp;${name}`) ?? "";
  const email = sent("email").replace(/^3D/, "").trim().replaceAll(" ", "+");
  return {
    email,
    token: sent("token")
      .replace(/^3D/, "")
      .replace(/[^0-9A-Za-z]/g, ""),
  };
}

/** Reads only: link scanners open links, too. */
export async function openedLink(
  request: Request,
  isLive: (link: LinkParameters) => Promise<boolean>,
): Promise<OpenedLink> {
  const link = linkParameters(request);
  if (!link.email || !link.token) return { ...link, problem: "incomplete" };
  return { ...link, problem: (await isLive(link)) ? null : "dead" };
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
