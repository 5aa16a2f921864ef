import { useEffect, useState } from "react";
import { usePage } from "~/document/page-context";
import { PasswordField } from "./password-field";

interface Account {
  email: string;
}

/** Says how hard a password is to guess while it is typed. The estimator is loaded with the first character. */
function PasswordStrength({ password, email }: Account & { password: string }) {
  const { t, brand, shortestPassword: count } = usePage();
  const [score, setScore] = useState<0 | 1 | 2 | 3 | 4 | null>(null);

  useEffect(() => {
    let current = true;
    const estimate = async () => {
      const { strengthOf } = await import("~/components/password-strength.client");
      if (current) setScore(strengthOf(password, email, brand.name));
    };
    if (password !== "") estimate().catch(() => setScore(null));
    return () => {
      current = false;
    };
  }, [password, email, brand.name]);

  if (password === "" || score === null) return t("strength.use", { count });
  const tooShort = [...password].length < count;
  return (
    <span data-score={tooShort ? 0 : score}>
      <span className="strength" aria-hidden="true" />
      {tooShort ? t("strength.tooShort", { count }) : t(`strength.score${score}`)}
    </span>
  );
}

export function NewPasswordFields({ email, errors }: Account & { errors: Record<string, string> }) {
  const { shortestPassword } = usePage();
  const [password, setPassword] = useState("");
  return (
    <>
      <PasswordField
        of="New"
        name="password"
        autoComplete="new-password"
        minLength={shortestPassword}
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
