import { useTexts } from "~/document/language";
import { ProtectedAction, useRefusal } from "./account-action";
import { EmailField } from "./form-controls";

interface AccountDetailsProps {
  name: string | null;
  email: string;
  picture: string | null;
}

export function AccountDetails({ name, email, picture }: AccountDetailsProps) {
  const t = useTexts();
  const refused = useRefusal("change-email");
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
      >
        <EmailField
          label={t("account.newEmail")}
          required
          autoComplete="email"
          enterKeyHint="send"
          defaultValue={refused?.typed.email}
          error={refused?.errors.email}
        />
      </ProtectedAction>
    </section>
  );
}

export function DeleteAccount() {
  const t = useTexts();
  const refused = useRefusal("delete-account");
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">{t("account.deleteTitle")}</h2>
      <p className="muted">{t("account.deleteWarning")}</p>
      <ProtectedAction label={t("account.delete")} intent="delete-account" submit={t("account.deleteForGood")} danger>
        <EmailField
          label={t("account.deleteConfirm")}
          required
          autoComplete="off"
          defaultValue={refused?.typed.email}
          error={refused?.errors.email}
        />
      </ProtectedAction>
    </section>
  );
}
