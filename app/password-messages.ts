import type { PasswordProblem } from "#server/password-rules.server";

/** Each broken rule in words, at the field that mends it. */
export const passwordMessages: Record<PasswordProblem, Record<string, string>> = {
  too_short: { password: "Use at least 8 characters." },
  too_long: { password: "Use at most 256 characters." },
  common: { password: "This password is among the most common ones. Choose another." },
  is_the_email: { password: "Choose a password that is not your email address." },
  unconfirmed: { passwordConfirmation: "The two passwords are not the same." },
};
