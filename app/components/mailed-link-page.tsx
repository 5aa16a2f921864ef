import { Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import { linkLifetimeMinutes } from "#server/rules";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { useTexts } from "~/document/language";
import type { LinkParameters, LinkRefusal } from "~/forms/mailed-link.server";
import { EmailField, EmailForm, SubmitButton } from "./form-controls";
import { NewPasswordFields } from "./new-password-fields";
import { Notice } from "./notice";
import { Page } from "./page";

interface MailedLinkPageProps {
  title: string;
  action: "/reset-password" | "/register/complete";
  submit: string;
  again: "/forgot-password" | "/register" | null;
}

export function MailedLinkPage({ title, action, submit, again }: MailedLinkPageProps) {
  const t = useTexts();
  const link = useLoaderData<LinkParameters>();
  const refused = useActionData<LinkRefusal>();
  const { email, token, return_to: returnTo } = { ...link, ...refused?.typed };
  if (!refused?.invalidLink) {
    return (
      <Page title={title}>
        <Form method="post" action={action}>
          <input type="hidden" name="token" value={token} />
          {returnTo && <input type="hidden" name={returnToName} value={returnTo} />}
          <EmailField value={email} readOnly error={refused?.errors?.email} />
          <NewPasswordFields email={email} errors={refused?.errors ?? {}} />
          <SubmitButton>{submit}</SubmitButton>
        </Form>
      </Page>
    );
  }
  return (
    <Page title={title}>
      <Notice role="alert">{refused.invalidLink}</Notice>
      {again ? (
        <>
          <p>{t("link.invalidHelp", { count: linkLifetimeMinutes })}</p>
          <EmailForm action={withReturnTo(again, returnTo)} email={email} submit={t("link.sendNew")} />
        </>
      ) : (
        <p className="aside">
          <Link to="/login">{t("common.backToLogin")}</Link>
        </p>
      )}
    </Page>
  );
}
