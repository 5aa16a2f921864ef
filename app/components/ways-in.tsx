import { Text, useTexts } from "~/page/language";
import { ActionForm } from "./action-form";
import { ChangePassword } from "./change-password";
import { ProtectedAction } from "./protected-action";

interface WaysInProps {
  email: string;
  password: boolean;
  linked: boolean;
  canConnect: boolean;
  provider: string;
  signInAgain: boolean;
  /** What was wrong with the new password, or with the current one. */
  passwordErrors: Record<string, string>;
}

/** How the user signs in; the provider can be disconnected only where a password remains. */
export function WaysIn({ email, password, linked, canConnect, provider, signInAgain, passwordErrors }: WaysInProps) {
  const t = useTexts();
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">{t("account.waysIn")}</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>{t("account.emailAndPassword")}</p>
            <ChangePassword email={email} errors={passwordErrors} signInAgain={signInAgain} />
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
