import { factsOf } from "#server/door/request-facts";
import { offersPasskeys } from "#server/features/visitor/passkey-sign-in";
import type { PasswordProblem } from "#server/features/visitor/password-policy";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { longestName } from "#server/rules";
import { keepTyped, respond } from "~/answers/responses";
import { passwordMessage, readFields } from "./form";

export interface LinkRefusal {
  typed: Record<string, string>;
  invalidLink?: string;
  errors?: Record<string, string>;
}

/** Runs the action of a form that asks for a mail. The answer is the same for every address. */
export function askForMail(request: Request, ask: (email: string) => Promise<unknown>) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, "email");
    const email = typed.email ?? "";
    return keepTyped({ email }, async () => {
      await ask(fields.email);
      return { status: "sent" as const, email };
    });
  });
}

export interface WayInLink extends OpenedLink {
  /** Whether the page offers a passkey in place of a password. */
  passkeys: boolean;
  /** Whether a new link is for invited people alone. */
  registrationClosed?: boolean;
}

type LinkReader = (link: LinkParameters) => Promise<boolean>;

/** A link whose form sets a password, or a passkey in its place. */
export async function openedWayInLink(request: Request, isLive: LinkReader): Promise<WayInLink> {
  return { ...(await openedLink(request, isLive)), passkeys: offersPasskeys(factsOf(request).origin) };
}

interface OpenedLink extends LinkParameters {
  problem: "incomplete" | "dead" | null;
}

/** Reads only: link scanners open links, too. */
export async function openedLink(request: Request, isLive: LinkReader): Promise<OpenedLink> {
  const link = linkParameters(request);
  if (!link.email || !link.token) return { ...link, problem: "incomplete" };
  return { ...link, problem: (await isLive(link)) ? null : "dead" };
}

export interface LinkParameters {
  email: string;
  token: string;
  /** Of the new account's owner. */
  name?: string;
  /** Where the sign-in leads, if the link signs in. */
  return_to?: string;
}

/**
 * The parameters of a mailed link, for its form. Mail clients damage links: `&amp;` for `&`, `=3D` for `=`, a decoded
 * `+` in the address, and punctuation, spaces or line breaks around and within the token.
 */
function linkParameters(request: Request): LinkParameters {
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

/** The fields of a form that sets a password, or a passkey in its place. */
export const wayInFields = ["email", "token", "password", "passwordConfirmation", "passkey"] as const;

export const wayInMessage = (
  t: Translate<AnswerTexts>,
  problem: PasswordProblem | "passkey" | "name",
): Record<string, string> => {
  if (problem === "name") return { name: t("form.wrongName", { count: longestName }) };
  return problem === "passkey" ? { passkey: t("link.passkeyFailed") } : passwordMessage(t, problem);
};
