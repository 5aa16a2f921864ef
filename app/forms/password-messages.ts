import { config } from "#server/config";
import type { PasswordProblem } from "#server/features/visitor/password-policy";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { longestPassword } from "#server/rules";

export function passwordMessage(t: Translate<AnswerTexts>, problem: PasswordProblem): Record<string, string> {
  if (problem === "unconfirmed") return { passwordConfirmation: t("password.unconfirmed") };
  const messages = {
    too_short: t("password.tooShort", { count: config().passwords.minimumLength }),
    too_long: t("password.tooLong", { count: longestPassword }),
    common: t("password.common"),
    breached: t("password.breached"),
    is_the_email: t("password.isTheEmail"),
    is_the_service: t("password.isTheService"),
  };
  return { password: messages[problem] };
}
