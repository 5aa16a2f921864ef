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
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">Delete your account</h2>
      <p className="muted">Your account and everything in it will be gone. This cannot be undone.</p>
      <Disclosure label="Delete my account" open={error !== undefined}>
        <SignInAgain needed={signInAgain} />
        <ActionForm fields={{ intent: "delete-account" }} submit="Delete my account for good" danger>
          <EmailField
            label="Type your email address to confirm"
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
