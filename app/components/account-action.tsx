import { Form, useActionData, useLoaderData } from "@remix-run/react";
import type { FormEvent, ReactNode } from "react";
import { recentSignInMinutes } from "#server/rules";
import type { Intent, Refusal } from "~/account/answers";
import { useTexts } from "~/document/language";
import { SubmitButton } from "./form-controls";

interface ActionFormProps {
  intent: Intent;
  sessionId?: string;
  submit: string;
  danger?: boolean;
  onSubmit?: (event: FormEvent<HTMLFormElement>) => void;
  children?: ReactNode;
}

export function ActionForm({ intent, sessionId, submit, danger, onSubmit, children }: ActionFormProps) {
  return (
    <Form method="post" action="/dashboard" {...(onSubmit && { onSubmit })}>
      <input type="hidden" name="intent" value={intent} />
      {sessionId && <input type="hidden" name="sessionId" value={sessionId} />}
      {children}
      <SubmitButton className={danger ? "danger" : "quiet"} intent={intent} sessionId={sessionId}>
        {submit}
      </SubmitButton>
    </Form>
  );
}

export function useRefusal(intent: Intent): Refusal | null {
  const result = useActionData<Partial<Refusal>>();
  return result?.intent === intent ? (result as Refusal) : null;
}

interface ProtectedActionProps extends ActionFormProps {
  label: string;
  how?: string;
  open?: boolean;
  after?: ReactNode;
}

export function ProtectedAction({ label, how, open = false, after, ...form }: ProtectedActionProps) {
  const t = useTexts();
  const { signInAgain } = useLoaderData<{ signInAgain: boolean }>();
  return (
    <details open={useRefusal(form.intent) !== null || open} className={form.danger ? "danger" : undefined}>
      <summary>{label}</summary>
      {how && <p>{how}</p>}
      {signInAgain && <p className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</p>}
      <ActionForm {...form} />
      {after}
    </details>
  );
}
