import { linkLifetimeMinutes } from "#server/rules";
import { EmailForm } from "./email-form";
import { Notice } from "./notice";

interface InvalidLinkProps {
  message: string;
  /** The page that mails a new link. */
  again: string;
  email: string;
}

/** Says that a mailed link is invalid, and offers a new one. */
export function InvalidLink({ message, again, email }: InvalidLinkProps) {
  return (
    <>
      <Notice role="alert">{message}</Notice>
      <p>A link works once, and for {linkLifetimeMinutes} minutes. We can mail you a new one.</p>
      <EmailForm action={again} email={email} submit="Send a new link" />
    </>
  );
}
