import type { PasswordProblem } from "#server/features/password-policy.server";
import { passwordLength } from "#server/rules";

/** The message for each broken rule, at the field that has to be changed. */
export const passwordMessages: Record<PasswordProblem, Record<string, string>> = {
  too_short: { password: `Use at least ${passwordLength.minimum} characters.` },
  too_long: { password: `Use at most ${passwordLength.maximum} characters.` },
  common: { password: "This password is among the most common ones. Choose another." },
  is_the_email: { password: "Choose a password that is not your email address." },
  unconfirmed: { passwordConfirmation: "The two passwords are not the same." },
};
