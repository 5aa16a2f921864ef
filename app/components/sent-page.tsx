import { Link, useSearchParams } from "@remix-run/react";
import type { ReactNode } from "react";
import { EmailForm } from "./email-form";
import { Notice } from "./notice";
import { Page } from "./page";

interface SentPageProps {
  sent: { email: string };
  outcome: (address: ReactNode) => ReactNode;
  /** The page that mails a new link. */
  again: string;
  login: string;
  isMailLogged: boolean;
  linkMinutes: number;
}

/** The page after a link was asked for. It is the same whether or not the address has an account. */
export function SentPage({ sent, outcome, again, login, isMailLogged, linkMinutes }: SentPageProps) {
  const askedAgain = useSearchParams()[0].has("again");
  const address = sent.email ? <strong>{sent.email}</strong> : "that address";
  return (
    <Page title="Check your mail">
      <Notice role="status">
        {askedAgain && "Asked again. "}
        {outcome(address)} It works once, within {linkMinutes} minutes.
      </Notice>
      {isMailLogged && (
        <p className="muted">
          No mail leaves this server: it is in the server’s output.
          {process.env.NODE_ENV === "development" && (
            <>
              {" "}
              You can also <a href="/dev/mails">read it here</a>.
            </>
          )}
        </p>
      )}
      <h2>Nothing there after a few minutes?</h2>
      <p>Look into the spam folder, check the address, and ask again.</p>
      <EmailForm
        action={`${again}${again.includes("?") ? "&" : "?"}again`}
        email={sent.email}
        submit="Send it again"
        quiet
      />
      <p className="aside">
        <Link to={login}>Back to log in</Link>
      </p>
    </Page>
  );
}
