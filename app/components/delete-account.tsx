import { useTexts } from "~/language";
import { ActionForm } from "./action-form";
import { Disclosure } from "./disclosure";
import { EmailField } from "./field";
import { SignInAgain } from "./sign-in-again";

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
      <Disclosure label={t("account.delete")} open={error !== undefined}>
        <SignInAgain needed={signInAgain} />
        <ActionForm fields={{ intent: "delete-account" }} submit={t("account.deleteForGood")} danger>
          <EmailField
            label={t("account.deleteConfirm")}
            required
            autoComplete="off"
            defaultValue={typed}
            error={error}
          />
        </ActionForm>
      </Disclosure>
    </section>
  );
}
