import type { PasswordProblem } from "#server/features/password-policy.server";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { passwordLength } from "#server/rules";

/** The message for a broken rule, at the field that has to be changed. */
export function passwordMessage(t: Translate<AnswerTexts>, problem: PasswordProblem): Record<string, string> {
  switch (problem) {
    case "too_short":
      return { password: t("password.tooShort", { count: passwordLength.minimum }) };
    case "too_long":
      return { password: t("password.tooLong", { count: passwordLength.maximum }) };
    case "common":
      return { password: t("password.common") };
    case "is_the_email":
      return { password: t("password.isTheEmail") };
    case "is_the_service":
      return { password: t("password.isTheService") };
    case "unconfirmed":
      return { passwordConfirmation: t("password.unconfirmed") };
  }
}
