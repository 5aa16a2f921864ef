import { Form } from "@remix-run/react";
import type { ReactNode } from "react";
import { SubmitButton } from "./submit-button";

interface ActionFormProps {
  fields: { intent: string; sessionId?: string };
  submit: string;
  danger?: boolean;
  children?: ReactNode;
}

/** The form of one account action: a button and its fields. */
export function ActionForm({ fields, submit, danger, children }: ActionFormProps) {
  return (
    <Form method="post" action="/dashboard">
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
      <SubmitButton className={danger ? "danger" : "quiet"} sends={fields}>
        {submit}
      </SubmitButton>
    </Form>
  );
}
