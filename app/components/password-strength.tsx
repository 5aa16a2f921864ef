import { useEffect, useState } from "react";

const shortest = 8; // code points

const words = [
  "Very easy to guess: add words.",
  "Easy to guess: add a word or two.",
  "Could be stronger: add a word.",
  "Strong.",
  "Very strong.",
];

/** How hard a password is to guess, in words, while it is typed. What judges it is loaded with the first character. */
export function PasswordStrength({ password, email }: { password: string; email: string }) {
  const [score, setScore] = useState<number | null>(null);

  useEffect(() => {
    let current = true;
    const judge = async () => {
      const { strengthOf } = await import("~/password-strength.client");
      if (current) setScore(strengthOf(password, email));
    };
    if (password !== "") judge().catch(() => setScore(null));
    return () => {
      current = false;
    };
  }, [password, email]);

  if (password === "" || score === null) return "Use at least 8 characters.";
  const tooShort = [...password].length < shortest;
  return (
    <span data-score={tooShort ? 0 : score}>
      <span className="strength" aria-hidden="true" />
      {tooShort ? "Too short: use at least 8 characters." : words[score]}
    </span>
  );
}
