import { Form } from "@remix-run/react";
import { useState } from "react";
import { passwordLength } from "#server/rules";
import { EmailField } from "./field";
import { PasswordField } from "./password-field";
import { PasswordStrength } from "./password-strength";
import { SubmitButton } from "./submit-button";

interface NewPasswordFormProps {
  action: string;
  email: string;
  token: string;
  errors?: Record<string, string> | undefined;
  submit: string;
}

/** The form behind a mailed link: the address (for password managers), the token, and the new password twice. */
export function NewPasswordForm({ action, email, token, errors = {}, submit }: NewPasswordFormProps) {
  const [password, setPassword] = useState("");
  return (
    <Form method="post" action={action}>
      <input type="hidden" name="token" value={token} />
      <EmailField value={email} readOnly error={errors.email} />
      <PasswordField
        of="New"
        name="password"
        autoComplete="new-password"
        minLength={passwordLength.minimum}
        enterKeyHint="next"
        error={errors.password}
        hint={<PasswordStrength password={password} email={email} />}
        onInput={(input) => setPassword(input.currentTarget.value)}
      />
      <PasswordField
        of="NewAgain"
        name="passwordConfirmation"
        autoComplete="new-password"
        enterKeyHint="go"
        error={errors.passwordConfirmation}
      />
      <SubmitButton>{submit}</SubmitButton>
    </Form>
  );
}
