import { Form } from "@remix-run/react";
import { EmailField } from "./field";
import { SubmitButton } from "./submit-button";

interface EmailFormProps {
  action: string;
  email: string;
  submit: string;
  quiet?: boolean;
}

export function EmailForm({ action, email, submit, quiet }: EmailFormProps) {
  return (
    <Form method="post" action={action}>
      <EmailField required defaultValue={email} enterKeyHint="send" />
      <SubmitButton {...(quiet && { className: "quiet" })}>{submit}</SubmitButton>
    </Form>
  );
}
