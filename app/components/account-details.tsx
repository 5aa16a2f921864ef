import { useTexts } from "~/page/language";
import { EmailField } from "./field";
import { ProtectedAction } from "./protected-action";

interface AccountDetailsProps {
  name: string | null;
  email: string;
  picture: string | null;
  emailError: string | undefined;
  typedEmail: string | undefined;
  signInAgain: boolean;
}

/** Who the account belongs to. */
export function AccountDetails({ name, email, picture, emailError, typedEmail, signInAgain }: AccountDetailsProps) {
  const t = useTexts();
  return (
    <section aria-labelledby="details">
      <h2 id="details">{t("account.details")}</h2>
      <div className="person">
        {picture && <img src={picture} alt="" width="56" height="56" referrerPolicy="no-referrer" />}
        <dl>
          {name && (
            <>
              <dt>{t("account.name")}</dt>
              <dd>
                <bdi>{name}</bdi>
              </dd>
            </>
          )}
          <dt>{t("common.email")}</dt>
          <dd>
            <bdi dir="ltr">{email}</bdi>
          </dd>
        </dl>
      </div>
      <ProtectedAction
        label={t("account.changeEmail")}
        how={t("account.changeEmailHow")}
        intent="change-email"
        submit={t("account.changeEmailSend")}
        signInAgain={signInAgain}
        open={emailError !== undefined}
      >
        <EmailField
          label={t("account.newEmail")}
          required
          autoComplete="email"
          enterKeyHint="send"
          defaultValue={typedEmail}
          error={emailError}
        />
      </ProtectedAction>
    </section>
  );
}
