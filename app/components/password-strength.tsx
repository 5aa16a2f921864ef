import { useEffect, useState } from "react";
import { passwordLength } from "#server/rules";

const atLeast = `at least ${passwordLength.minimum} characters`;

const words = [
  "Very easy to guess: add words.",
  "Easy to guess: add a word or two.",
  "Could be stronger: add a word.",
  "Strong.",
  "Very strong.",
];

/** Says how hard a password is to guess while it is typed. The estimator is loaded with the first character. */
export function PasswordStrength({ password, email }: { password: string; email: string }) {
  const [score, setScore] = useState<number | null>(null);

  useEffect(() => {
    let current = true;
    const estimate = async () => {
      const { strengthOf } = await import("~/password-strength.client");
      if (current) setScore(strengthOf(password, email));
    };
    if (password !== "") estimate().catch(() => setScore(null));
    return () => {
      current = false;
    };
  }, [password, email]);

  if (password === "" || score === null) return `Use ${atLeast}.`;
  const tooShort = [...password].length < passwordLength.minimum;
  return (
    <span data-score={tooShort ? 0 : score}>
      <span className="strength" aria-hidden="true" />
      {tooShort ? `Too short: use ${atLeast}.` : words[score]}
    </span>
  );
}
