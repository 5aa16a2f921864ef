import { Text, useTexts } from "~/page/language";
import { ActionForm, ProtectedAction, useRefusal } from "./account-action";
import { NewPasswordFields } from "./new-password-fields";
import { PasswordField } from "./password-field";

interface ChangePasswordProps {
  email: string;
  signInAgain: boolean;
}

/** The form for a new password, and the way by mail for who has forgotten the current one. */
function ChangePassword({ email, signInAgain }: ChangePasswordProps) {
  const t = useTexts();
  const errors = useRefusal("change-password")?.errors ?? {};
  return (
    <ProtectedAction
      label={t("account.changePassword")}
      intent="change-password"
      submit={t("account.savePassword")}
      signInAgain={signInAgain}
      after={
        <>
          <p className="muted">{t("account.forgotCurrentPassword")}</p>
          <ActionForm intent="send-password-link" submit={t("account.mailPasswordLink")} />
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

interface WaysInProps extends ChangePasswordProps {
  password: boolean;
  linked: boolean;
  canConnect: boolean;
  provider: string;
}

/** How the user signs in; the provider can be disconnected only where a password remains. */
export function WaysIn({ email, password, linked, canConnect, provider, signInAgain }: WaysInProps) {
  const t = useTexts();
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">{t("account.waysIn")}</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>{t("account.emailAndPassword")}</p>
            <ChangePassword email={email} signInAgain={signInAgain} />
          </li>
        )}
        {linked && (
          <li>
            <p>{provider}</p>
            {password && (
              <ProtectedAction
                label={t("account.disconnect")}
                how={t("account.disconnectWarning", { provider })}
                intent="unlink-provider"
                submit={t("account.disconnectProvider", { provider })}
                danger
                signInAgain={signInAgain}
              />
            )}
          </li>
        )}
        {canConnect && (
          <li>
            <p>
              <Text
                of="account.notConnected"
                values={{ provider }}
                parts={{ muted: (text) => <span className="muted">{text}</span> }}
              />
            </p>
            <ActionForm intent="connect-provider" submit={t("account.connect", { provider })} />
          </li>
        )}
      </ul>
      {!password && (
        <>
          <p className="muted">{t("account.onlyProvider", { provider })}</p>
          <ActionForm intent="send-password-link" submit={t("account.setPassword")} />
        </>
      )}
    </section>
  );
}
