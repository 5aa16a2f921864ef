import { Text, useTexts } from "~/document/language";
import { usePage } from "~/document/page-context";
import { ActionForm, ProtectedAction, useRefusal } from "./account-action";
import { NewPasswordFields } from "./new-password-fields";
import { Passkeys, type PasskeysOfAccount } from "./passkeys";
import { PasswordField } from "./password-field";

function ChangePassword({ email }: { email: string }) {
  const t = useTexts();
  const errors = useRefusal("change-password")?.errors ?? {};
  return (
    <ProtectedAction
      label={t("account.changePassword")}
      intent="change-password"
      submit={t("account.savePassword")}
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

interface WaysInProps {
  email: string;
  name: string | null;
  password: boolean;
  linked: boolean;
  canConnect: boolean;
  provider: string;
  /** `null`: none, because they are off. */
  passkeys: PasskeysOfAccount | null;
}

export function WaysIn({ email, name, password, linked, canConnect, provider, passkeys }: WaysInProps) {
  const { t, passwordless } = usePage();
  const hasPasskeys = Boolean(passkeys?.items.length);
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">{t("account.waysIn")}</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>{t("account.emailAndPassword")}</p>
            <ChangePassword email={email} />
          </li>
        )}
        {linked && (
          <li>
            <p>{provider}</p>
            {(password || hasPasskeys) && (
              <ProtectedAction
                label={t("account.disconnect")}
                how={t("account.disconnectWarning", { provider })}
                intent="unlink-provider"
                submit={t("account.disconnectProvider", { provider })}
                danger
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
        {passkeys && <Passkeys {...passkeys} email={email} userName={name} />}
      </ul>
      {!password && passwordless === null && (
        <>
          {!hasPasskeys && <p className="muted">{t("account.onlyProvider", { provider })}</p>}
          <ActionForm intent="send-password-link" submit={t("account.setPassword")} />
        </>
      )}
    </section>
  );
}
