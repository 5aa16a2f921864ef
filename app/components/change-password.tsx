import { useTexts } from "~/page/language";
import { ActionForm } from "./action-form";
import { NewPasswordFields } from "./new-password-fields";
import { PasswordField } from "./password-field";
import { ProtectedAction } from "./protected-action";

interface ChangePasswordProps {
  email: string;
  errors: Record<string, string>;
  signInAgain: boolean;
}

/** The form for a new password, and the way by mail for who has forgotten the current one. */
export function ChangePassword({ email, errors, signInAgain }: ChangePasswordProps) {
  const t = useTexts();
  return (
    <ProtectedAction
      label={t("account.changePassword")}
      intent="change-password"
      submit={t("account.savePassword")}
      signInAgain={signInAgain}
      open={Object.keys(errors).length > 0}
      after={
        <>
          <p className="muted">{t("account.forgotCurrentPassword")}</p>
          <ActionForm fields={{ intent: "send-password-link" }} submit={t("account.mailPasswordLink")} />
        </>
      }
    >
      {/* Not sent: password managers take it for the user name. */}
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        of="Current"
        name="currentPassword"
        autoComplete="current-password"
        enterKeyHint="next"
        error={errors.currentPassword}
      />
      <NewPasswordFields email={email} errors={errors} />
      <p className="muted">{t("account.otherSessionsEnd")}</p>
    </ProtectedAction>
  );
}
