import { EmailForm } from "./email-form";
import { Notice } from "./notice";

interface DeadLinkProps {
  message: string;
  again: "/forgot-password" | "/register";
  email: string;
}

/** A link that cannot be used any more, and the way to a new one. */
export function DeadLink({ message, again, email }: DeadLinkProps) {
  return (
    <>
      <Notice role="alert">{message}</Notice>
      <p>A link works once, and for 60 minutes. We can mail you a new one.</p>
      <EmailForm action={again} email={email} submit="Send a new link" />
    </>
  );
}
