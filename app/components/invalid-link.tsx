import { Link } from "@remix-run/react";
import { linkLifetimeMinutes } from "#server/rules";
import { useTexts } from "~/page/language";
import { EmailForm } from "./email-form";
import { Notice } from "./notice";

interface InvalidLinkProps {
  message: string;
  /** The page that mails a new link; `null` when there is none. */
  again: string | null;
  email: string;
}

/** Says that a mailed link is invalid, and offers a new one where there can be one. */
export function InvalidLink({ message, again, email }: InvalidLinkProps) {
  const t = useTexts();
  return (
    <>
      <Notice role="alert">{message}</Notice>
      {again ? (
        <>
          <p>{t("link.invalidHelp", { count: linkLifetimeMinutes })}</p>
          <EmailForm action={again} email={email} submit={t("link.sendNew")} />
        </>
      ) : (
        <p className="aside">
          <Link to="/login">{t("common.backToLogin")}</Link>
        </p>
      )}
    </>
  );
}
