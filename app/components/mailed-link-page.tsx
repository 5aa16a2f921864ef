import { useActionData, useLoaderData } from "@remix-run/react";
import type { LinkParameters, LinkRefusal } from "~/request/mailed-link.server";
import { withReturnTo } from "~/request/return-to";
import { InvalidLink } from "./invalid-link";
import { NewPasswordForm } from "./new-password-form";
import { Page } from "./page";

interface MailedLinkPageProps {
  title: string;
  action: "/reset-password" | "/register/complete";
  submit: string;
  /** The page that mails a new link; `null` when there is none. */
  again: "/forgot-password" | "/register" | null;
}

/** The page behind a mailed link: the form for a new password, or the form for a new link. */
export function MailedLinkPage({ title, action, submit, again }: MailedLinkPageProps) {
  const link = useLoaderData<LinkParameters>();
  const refused = useActionData<LinkRefusal>();
  const { email, token, return_to: returnTo } = { ...link, ...refused?.typed };
  return (
    <Page title={title}>
      {refused?.invalidLink ? (
        <InvalidLink message={refused.invalidLink} again={again && withReturnTo(again, returnTo)} email={email} />
      ) : (
        <NewPasswordForm
          action={action}
          email={email}
          token={token}
          returnTo={returnTo}
          errors={refused?.errors}
          submit={submit}
        />
      )}
    </Page>
  );
}
