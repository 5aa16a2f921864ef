import { useTexts } from "~/language";
import { ActionForm } from "./action-form";
import { Disclosure } from "./disclosure";
import { EmailField } from "./field";
import { SignInAgain } from "./sign-in-again";

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
        {picture?.startsWith("https://") && (
          <img src={picture} alt="" width="56" height="56" referrerPolicy="no-referrer" />
        )}
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
      <Disclosure label={t("account.changeEmail")} open={emailError !== undefined}>
        <p>{t("account.changeEmailHow")}</p>
        <SignInAgain needed={signInAgain} />
        <ActionForm fields={{ intent: "change-email" }} submit={t("account.changeEmailSend")}>
          <EmailField
            label={t("account.newEmail")}
            required
            autoComplete="email"
            enterKeyHint="send"
            defaultValue={typedEmail}
            error={emailError}
          />
        </ActionForm>
      </Disclosure>
    </section>
  );
}
