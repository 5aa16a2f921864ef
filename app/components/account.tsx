import { recentSignInMinutes } from "#server/rules";
import { Text, useTexts } from "~/language";
import { ActionForm } from "./action-form";
import { EmailField } from "./field";
import { Notice } from "./notice";

interface PersonProps {
  name: string | null;
  email: string;
  picture: string | null;
}

export function Person({ name, email, picture }: PersonProps) {
  const t = useTexts();
  return (
    <div className="person">
      {picture?.startsWith("https://") && (
        <img src={picture} alt="" width="56" height="56" referrerPolicy="no-referrer" />
      )}
      <dl>
        {name && (
          <>
            <dt>{t("account.name")}</dt>
            <dd dir="auto">{name}</dd>
          </>
        )}
        <dt>{t("common.email")}</dt>
        <dd dir="ltr">{email}</dd>
      </dl>
    </div>
  );
}

/** Says how an attempt to connect the provider ended. */
export function AccountNotice({ notice, provider }: { notice: string | null; provider: string }) {
  const t = useTexts();
  if (notice === "idp_connected") return <Notice role="status">{t("account.connected", { provider })}</Notice>;
  if (notice !== "idp_failed") return null;
  return <Notice role="alert">{t("account.connectFailed", { provider })}</Notice>;
}

interface WaysInProps {
  password: boolean;
  linked: boolean;
  canConnect: boolean;
  provider: string;
}

/** How the user signs in; the provider can be disconnected only where a password remains. */
export function WaysIn({ password, linked, canConnect, provider }: WaysInProps) {
  const t = useTexts();
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">{t("account.waysIn")}</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>{t("account.emailAndPassword")}</p>
            <ActionForm fields={{ intent: "send-password-link" }} submit={t("account.mailPasswordLink")} />
          </li>
        )}
        {linked && (
          <li>
            <p>{provider}</p>
            {password && (
              <details>
                <summary>{t("account.disconnect")}</summary>
                <p>{t("account.disconnectWarning", { provider })}</p>
                <ActionForm
                  fields={{ intent: "unlink-provider" }}
                  submit={t("account.disconnectProvider", { provider })}
                  danger
                />
              </details>
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
            <ActionForm fields={{ intent: "connect-provider" }} submit={t("account.connect", { provider })} />
          </li>
        )}
      </ul>
      {!password && (
        <>
          <p className="muted">{t("account.onlyProvider", { provider })}</p>
          <ActionForm fields={{ intent: "send-password-link" }} submit={t("account.setPassword")} />
        </>
      )}
    </section>
  );
}

export function DeleteAccount({ error, typed }: { error: string | undefined; typed: string | undefined }) {
  const t = useTexts();
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">{t("account.deleteTitle")}</h2>
      <p className="muted">{t("account.deleteWarning", { count: recentSignInMinutes })}</p>
      <details open={error !== undefined}>
        <summary>{t("account.delete")}</summary>
        <ActionForm fields={{ intent: "delete-account" }} submit={t("account.deleteForGood")} danger>
          <EmailField
            label={t("account.deleteConfirm")}
            required
            autoComplete="off"
            defaultValue={typed}
            error={error}
          />
        </ActionForm>
      </details>
    </section>
  );
}
