import { linkLifetimeMinutes } from "#server/rules";
import { useTexts } from "~/language";
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
  const t = useTexts();
  return (
    <>
      <Notice role="alert">{message}</Notice>
      <p>{t("link.invalidHelp", { count: linkLifetimeMinutes })}</p>
      <EmailForm action={again} email={email} submit={t("link.sendNew")} />
    </>
  );
}
