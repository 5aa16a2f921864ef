import { ActionForm } from "./action-form";
import { ChangePassword } from "./change-password";
import { Disclosure } from "./disclosure";
import { SignInAgain } from "./sign-in-again";

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
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">How you sign in</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>Email and password</p>
            <ChangePassword email={email} errors={passwordErrors} signInAgain={signInAgain} />
          </li>
        )}
        {linked && (
          <li>
            <p>{provider}</p>
            {password && (
              <Disclosure label="Disconnect">
                <p>{`You will sign in with your password alone, and every other session ends. Signing in with ${provider} will not work until you connect it again here.`}</p>
                <SignInAgain needed={signInAgain} />
                <ActionForm fields={{ intent: "unlink-provider" }} submit={`Disconnect ${provider}`} danger />
              </Disclosure>
            )}
          </li>
        )}
        {canConnect && (
          <li>
            <p>
              {provider} <span className="muted">· not connected</span>
            </p>
            <ActionForm fields={{ intent: "connect-provider" }} submit={`Connect ${provider}`} />
          </li>
        )}
      </ul>
      {!password && (
        <>
          <p className="muted">Your only way in is {provider}. To be able to disconnect it, set a password first.</p>
          <ActionForm fields={{ intent: "send-password-link" }} submit="Set a password by mail" />
        </>
      )}
    </section>
  );
}
