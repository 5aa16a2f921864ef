import type { PropsWithChildren } from "react";
import { usePage, useTexts } from "~/document/page-context";
import { ActionForm, Address, ProtectedAction, Row, Section, useRefusal } from "./account-rows";
import { PasskeyRow, Passkeys, type PasskeysOfAccount } from "./passkeys";
import { NewPasswordFields, PasswordField } from "./password-field";

interface WaysInProps {
  email: string;
  name: string | null;
  hasPassword: boolean;
  isLinked: boolean;
  isLinkQuestioned: boolean;
  canConnect: boolean;
  provider: string;
  /** `null` while passkeys are off. */
  passkeys: PasskeysOfAccount | null;
}

export function WaysIn({ hasPassword, isLinked, canConnect, provider, passkeys, ...user }: WaysInProps) {
  const { t, passwordless } = usePage();
  const isOwnLink = isLinked && !user.isLinkQuestioned;
  const hasPasskey = passkeys?.items.some(({ questioned }) => !questioned);
  return (
    <Section title={t("account.waysIn")}>
      {hasPassword && (
        <Row name={t("account.emailAndPassword")} detail={<Address email={user.email} />}>
          <ChangePassword email={user.email} />
          {(isOwnLink || hasPasskey) && (
            <ProtectedAction
              label={t("account.remove")}
              how={t("account.removePasswordWarning")}
              intent="remove-password"
              submit={t("account.removePassword")}
              danger
            />
          )}
        </Row>
      )}
      {!hasPassword && passwordless === null && (
        <Row
          name={t("account.emailAndPassword")}
          detail={isLinked && !passkeys?.items.length && t("account.onlyProvider", { provider })}
        >
          <ActionForm intent="send-password-link" submit={t("account.setPassword")} />
        </Row>
      )}
      {isOwnLink && <ConnectedProvider {...{ provider, hasPassword, passkeys }} />}
      {canConnect && (
        <Row name={provider} detail={t("account.notConnected")}>
          <ActionForm intent="connect-provider" submit={t("account.connect", { provider })} />
        </Row>
      )}
      {passkeys && <Passkeys {...passkeys} email={user.email} userName={user.name} />}
    </Section>
  );
}

function ChangePassword({ email }: { email: string }) {
  const t = useTexts();
  const errors = useRefusal("change-password")?.errors ?? {};
  return (
    <ProtectedAction
      label={t("account.change")}
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
      <NewPasswordFields of="New" email={email} errors={errors} />
      <p className="muted">{t("account.otherSessionsEnd")}</p>
    </ProtectedAction>
  );
}

/** The ways to sign in that are in question, because somebody else may have added them. */
export function Questions({ isLinked, isLinkQuestioned, hasPassword, provider, passkeys }: WaysInProps) {
  const t = useTexts();
  const questioned = passkeys?.items.filter((passkey) => passkey.questioned) ?? [];
  const isLinkInQuestion = isLinked && isLinkQuestioned;
  if (questioned.length === 0 && !isLinkInQuestion) return null;
  return (
    <Section title={t("questions.title")} lead={t("questions.lead")}>
      {questioned.map((passkey) => (
        <PasskeyRow key={passkey.id} {...passkey}>
          <ActionForm intent="keep-passkey" submit={t("questions.keep")}>
            <input type="hidden" name="passkey" value={passkey.id} />
          </ActionForm>
        </PasskeyRow>
      ))}
      {isLinkInQuestion && (
        <ConnectedProvider {...{ provider, hasPassword, passkeys }}>
          <ActionForm intent="keep-provider" submit={t("questions.keep")} />
        </ConnectedProvider>
      )}
    </Section>
  );
}

type ConnectedProviderProps = PropsWithChildren<Pick<WaysInProps, "provider" | "hasPassword" | "passkeys">>;

function ConnectedProvider({ provider, hasPassword, passkeys, children }: ConnectedProviderProps) {
  const { t, passwordless } = usePage();
  const canDisconnect = passwordless === null && (hasPassword || Boolean(passkeys?.items.length));
  return (
    <Row name={provider} detail={t("account.isConnected")}>
      {children}
      {canDisconnect && (
        <ProtectedAction
          label={t("account.disconnect")}
          how={t("account.disconnectWarning", { provider })}
          intent="unlink-provider"
          submit={t("account.disconnectProvider", { provider })}
          danger
        />
      )}
    </Row>
  );
}
