import { useTexts } from "~/document/language";
import { usePage } from "~/document/page-context";
import { ActionForm, ProtectedAction, Row, Section, useRefusal } from "./account-action";
import { Passkeys, type PasskeysOfAccount } from "./passkeys";
import { NewPasswordFields, PasswordField } from "./password-field";

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
  /** `null` while passkeys are off. */
  passkeys: PasskeysOfAccount | null;
}

export function WaysIn({ email, name, password, linked, canConnect, provider, passkeys }: WaysInProps) {
  const { t, passwordless } = usePage();
  const hasPasskeys = Boolean(passkeys?.items.length);
  return (
    <Section title={t("account.waysIn")}>
      {password && (
        <Row name={t("account.emailAndPassword")} detail={<bdi dir="ltr">{email}</bdi>}>
          <ChangePassword email={email} />
        </Row>
      )}
      {!password && passwordless === null && (
        <Row name={t("account.emailAndPassword")} detail={!hasPasskeys && t("account.onlyProvider", { provider })}>
          <ActionForm intent="send-password-link" submit={t("account.setPassword")} />
        </Row>
      )}
      {linked && (
        <Row name={provider} detail={t("account.isConnected")}>
          {passwordless === null && (password || hasPasskeys) && (
            <ProtectedAction
              label={t("account.disconnect")}
              how={t("account.disconnectWarning", { provider })}
              intent="unlink-provider"
              submit={t("account.disconnectProvider", { provider })}
              danger
            />
          )}
        </Row>
      )}
      {canConnect && (
        <Row name={provider} detail={t("account.notConnected")}>
          <ActionForm intent="connect-provider" submit={t("account.connect", { provider })} />
        </Row>
      )}
      {passkeys && <Passkeys {...passkeys} email={email} userName={name} />}
    </Section>
  );
}
