import { Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import { linkLifetimeMinutes } from "#server/rules";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { Text, useTexts } from "~/document/language";
import type { LinkRefusal, OpenedLink } from "~/forms/mailed-link";
import { EmailField, EmailForm, SubmitButton } from "./form-controls";
import { Notice, Page } from "./page";
import { NewPasswordFields } from "./password-field";

interface MailedLinkPageProps {
  title: string;
  action: "/reset-password" | "/register/complete";
  submit: string;
  /** The text that says what to do if the link has just been used. */
  used: "reset.used" | "complete.used";
  again: "/forgot-password" | "/register" | null;
}

const problems = { dead: "link.dead", incomplete: "link.incomplete" } as const;

export function MailedLinkPage({ title, action, submit, used, again }: MailedLinkPageProps) {
  const t = useTexts();
  const { problem, ...link } = useLoaderData<OpenedLink>();
  const refused = useActionData<LinkRefusal>();
  const { email, token, return_to: returnTo } = { ...link, ...refused?.typed };
  if (!refused?.invalidLink) {
    const askAgain = again && `${again}?${new URLSearchParams({ email })}`;
    return (
      <Page title={title}>
        {problem && !refused && (
          <Notice role="alert">
            {t(problems[problem])}{" "}
            {askAgain && (
              <Text
                of="link.askAgain"
                parts={{ again: (text) => <Link to={withReturnTo(askAgain, returnTo)}>{text}</Link> }}
              />
            )}
          </Notice>
        )}
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
      <p>
        <Text of={used} parts={{ login: (text) => <Link to={withReturnTo("/login", returnTo)}>{text}</Link> }} />
      </p>
      {again && (
        <>
          <p>{t("link.invalidHelp", { count: linkLifetimeMinutes })}</p>
          <EmailForm action={withReturnTo(again, returnTo)} email={email} submit={t("link.sendNew")} />
        </>
      )}
    </Page>
  );
}
