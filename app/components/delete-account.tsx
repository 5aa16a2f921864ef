import { useTexts } from "~/page/language";
import { ProtectedAction, useRefusal } from "./account-action";
import { EmailField } from "./field";

export function DeleteAccount({ signInAgain }: { signInAgain: boolean }) {
  const t = useTexts();
  const refused = useRefusal("delete-account");
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">{t("account.deleteTitle")}</h2>
      <p className="muted">{t("account.deleteWarning")}</p>
      <ProtectedAction
        label={t("account.delete")}
        intent="delete-account"
        submit={t("account.deleteForGood")}
        danger
        signInAgain={signInAgain}
      >
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
