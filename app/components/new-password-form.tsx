import { Form } from "@remix-run/react";
import { returnToName } from "~/request/return-to";
import { EmailField } from "./field";
import { NewPasswordFields } from "./new-password-fields";
import { SubmitButton } from "./submit-button";

interface NewPasswordFormProps {
  action: string;
  email: string;
  token: string;
  returnTo?: string | undefined;
  errors?: Record<string, string> | undefined;
  submit: string;
}

/** The form behind a mailed link: the address (for password managers), the token, and the new password twice. */
export function NewPasswordForm({ action, email, token, returnTo, errors = {}, submit }: NewPasswordFormProps) {
  return (
    <Form method="post" action={action}>
      <input type="hidden" name="token" value={token} />
      {returnTo && <input type="hidden" name={returnToName} value={returnTo} />}
      <EmailField value={email} readOnly error={errors.email} />
      <NewPasswordFields email={email} errors={errors} />
      <SubmitButton>{submit}</SubmitButton>
    </Form>
  );
}
