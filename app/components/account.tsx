import { ActionForm } from "./action-form";
import { EmailField } from "./field";
import { Notice } from "./notice";

interface PersonProps {
  name: string | null;
  email: string;
  picture: string | null;
}

export function Person({ name, email, picture }: PersonProps) {
  return (
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
  );
}

/** Says how an attempt to connect the provider ended. */
export function AccountNotice({ notice, provider }: { notice: string | null; provider: string }) {
  if (notice === "idp_connected") return <Notice role="status">You can now sign in with {provider}.</Notice>;
  if (notice !== "idp_failed") return null;
  return <Notice role="alert">Signing in with {provider} did not work. Nothing was changed.</Notice>;
}

interface WaysInProps {
  password: boolean;
  linked: boolean;
  canConnect: boolean;
  provider: string;
}

/** How the user signs in; the provider can be disconnected only where a password remains. */
export function WaysIn({ password, linked, canConnect, provider }: WaysInProps) {
  return (
    <section aria-labelledby="ways-in">
      <h2 id="ways-in">How you sign in</h2>
      <ul className="rows">
        {password && (
          <li>
            <p>Email and password</p>
            <ActionForm fields={{ intent: "send-password-link" }} submit="Change the password by mail" />
          </li>
        )}
        {linked && (
          <li>
            <p>{provider}</p>
            {password && (
              <details>
                <summary>Disconnect</summary>
                <p>{`You will sign in with your password alone, and every other session ends. Signing in with ${provider} will not work until you connect it again here.`}</p>
                <ActionForm fields={{ intent: "unlink-provider" }} submit={`Disconnect ${provider}`} danger />
              </details>
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

export function DeleteAccount({ error, typed }: { error: string | undefined; typed: string | undefined }) {
  return (
    <section aria-labelledby="delete-account">
      <h2 id="delete-account">Delete your account</h2>
      <p className="muted">
        Your account and everything in it will be gone. This cannot be undone. If you logged in more than 15 minutes
        ago, we will ask you to log in again first.
      </p>
      <details open={error !== undefined}>
        <summary>Delete my account</summary>
        <ActionForm fields={{ intent: "delete-account" }} submit="Delete my account for good" danger>
          <EmailField
            label="Type your email address to confirm"
            required
            autoComplete="off"
            defaultValue={typed}
            error={error}
          />
        </ActionForm>
      </details>
    </section>
  );
}
