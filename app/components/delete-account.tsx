import { useTexts } from "~/page/language";
import { EmailField } from "./field";
import { ProtectedAction } from "./protected-action";

interface DeleteAccountProps {
  error: string | undefined;
  typed: string | undefined;
  signInAgain: boolean;
}

export function DeleteAccount({ error, typed, signInAgain }: DeleteAccountProps) {
  const t = useTexts();
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
        open={error !== undefined}
      >
        <EmailField label={t("account.deleteConfirm")} required autoComplete="off" defaultValue={typed} error={error} />
      </ProtectedAction>
    </section>
  );
}
