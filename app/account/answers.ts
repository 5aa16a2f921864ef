import { data, redirect } from "@remix-run/node";
import * as z from "zod";
import type { EndedOthers } from "#server/features/owner/own-sessions";
import type { Owner } from "#server/features/owner/signed-in";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { tooManyRequests, unprocessable } from "~/answers/responses";
import { formProblem } from "~/forms/form";
import { keepSession } from "~/visitor/session";

export const accountForm = <Intent extends string>(intents: Intent[]) =>
  z.object({
    intent: z.enum(intents, formProblem("account.chooseAction")),
    sessionId: z.uuid().toLowerCase().optional().catch(undefined),
    email: z.string().default(""),
    currentPassword: z.string().default(""),
    password: z.string().default(""),
    passwordConfirmation: z.string().default(""),
    passkey: z.string().default(""),
    name: z.string().default(""),
  });

type AccountForm = z.output<ReturnType<typeof accountForm<string>>>;

export interface ActionContext {
  request: Request;
  t: Translate<AnswerTexts>;
  owner: Owner;
  form: AccountForm;
}

export interface Refusal {
  intent?: string;
  errors: Record<string, string>;
  typed: Record<string, string>;
}

type ActionResult = { done: string } | Refusal;

export const done = (text: string) => data<ActionResult>({ done: text });

/** Redirects: the account page's loader would read the request's own cookie, whose session has ended. */
export function sessionsEnded(
  request: Request,
  { kept }: EndedOthers,
  notice: "password_changed" | "sessions_ended" | "idp_disconnected",
): Response {
  return kept ? keepSession(request, kept, `/dashboard?notice=${notice}`) : redirect("/login");
}

export const refused = ({ intent, email }: AccountForm, errors: Record<string, string>) =>
  unprocessable<ActionResult>({ intent, errors, typed: { email } });

/** @param wait seconds until the next attempt is allowed */
export const throttled = ({ intent }: AccountForm, errors: Record<string, string>, wait: number) =>
  data<ActionResult>({ intent, errors, typed: {} }, tooManyRequests(wait));
