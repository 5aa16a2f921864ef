import { useEffect, useState } from "react";
import { passwordLength } from "#server/rules";
import { useBrand } from "~/page/brand";
import { useTexts } from "~/page/language";

/** Says how hard a password is to guess while it is typed. The estimator is loaded with the first character. */
export function PasswordStrength({ password, email }: { password: string; email: string }) {
  const t = useTexts();
  const { name } = useBrand();
  const [score, setScore] = useState<0 | 1 | 2 | 3 | 4 | null>(null);
  const count = passwordLength.minimum;

  useEffect(() => {
    let current = true;
    const estimate = async () => {
      const { strengthOf } = await import("~/components/password-strength.client");
      if (current) setScore(strengthOf(password, email, name));
    };
    if (password !== "") estimate().catch(() => setScore(null));
    return () => {
      current = false;
    };
  }, [password, email, name]);

  if (password === "" || score === null) return t("strength.use", { count });
  const tooShort = [...password].length < passwordLength.minimum;
  return (
    <span data-score={tooShort ? 0 : score}>
      <span className="strength" aria-hidden="true" />
      {tooShort ? t("strength.tooShort", { count }) : t(`strength.score${score}`)}
    </span>
  );
}
