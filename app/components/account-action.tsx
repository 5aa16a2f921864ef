import { Form, useActionData } from "@remix-run/react";
import type { ReactNode } from "react";
import { recentSignInMinutes } from "#server/rules";
import type { Intent, Refusal } from "~/account/answers.server";
import { useTexts } from "~/page/language";
import { SubmitButton } from "./submit-button";

interface ActionFormProps {
  intent: Intent;
  sessionId?: string;
  submit: string;
  danger?: boolean;
  children?: ReactNode;
}

export function ActionForm({ intent, sessionId, submit, danger, children }: ActionFormProps) {
  return (
    <Form method="post" action="/dashboard">
      <input type="hidden" name="intent" value={intent} />
      {sessionId && <input type="hidden" name="sessionId" value={sessionId} />}
      {children}
      <SubmitButton className={danger ? "danger" : "quiet"} intent={intent} sessionId={sessionId}>
        {submit}
      </SubmitButton>
    </Form>
  );
}

/** Why this action was refused, and what was typed into its form; `null` when it was not. */
export function useRefusal(intent: Intent): Refusal | null {
  const result = useActionData<Partial<Refusal>>();
  return result?.intent === intent ? (result as Refusal) : null;
}

interface ProtectedActionProps extends ActionFormProps {
  /** What shows the form, also without JavaScript. */
  label: string;
  how?: string;
  /** Whether the action will lead to the login page first. */
  signInAgain: boolean;
  after?: ReactNode;
}

/** An account action that asks for a recent sign-in. Its form is shown when it is asked for. */
export function ProtectedAction({ label, how, signInAgain, after, ...form }: ProtectedActionProps) {
  const t = useTexts();
  return (
    <details open={useRefusal(form.intent) !== null} className={form.danger ? "danger" : undefined}>
      <summary>{label}</summary>
      {how && <p>{how}</p>}
      {signInAgain && <p className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</p>}
      <ActionForm {...form} />
      {after}
    </details>
  );
}
