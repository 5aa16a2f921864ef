import { useState } from "react";
import { passwordLength } from "#server/rules";
import { PasswordField } from "./password-field";
import { PasswordStrength } from "./password-strength";

/** The new password twice, with its strength. `email` is the address of the account. */
export function NewPasswordFields({ email, errors }: { email: string; errors: Record<string, string> }) {
  const [password, setPassword] = useState("");
  return (
    <>
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
    </>
  );
}
