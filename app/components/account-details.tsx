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
  return (
    <section aria-labelledby="details">
      <h2 id="details">Your details</h2>
      <div className="person">
        {picture?.startsWith("https://") && (
          <img src={picture} alt="" width="56" height="56" referrerPolicy="no-referrer" />
        )}
        <dl>
          {name && (
            <>
              <dt>Name</dt>
              <dd>{name}</dd>
            </>
          )}
          <dt>Email</dt>
          <dd>{email}</dd>
        </dl>
      </div>
      <Disclosure label="Change the email address" open={emailError !== undefined}>
        <p>
          We mail a link to the new address, and tell the current one. The address changes when you confirm the new one;
          every session in another browser ends then.
        </p>
        <SignInAgain needed={signInAgain} />
        <ActionForm fields={{ intent: "change-email" }} submit="Send the link">
          <EmailField
            label="New email address"
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
