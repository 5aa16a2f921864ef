import { Form, Link, useActionData, useLoaderData, useSubmit } from "@remix-run/react";
import { type FormEvent, useState } from "react";
import { linkLifetimeMinutes } from "#server/rules";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { Text, useTexts } from "~/document/language";
import { usePasskeySupport } from "~/document/page-context";
import type { LinkParameters, LinkRefusal, OpenedLink } from "~/forms/mailed-link";
import { EmailField, EmailForm, Mark, SubmitButton } from "./form-controls";
import { Notice, Page } from "./page";
import { NewPasswordFields } from "./password-field";

interface MailedLinkPageProps {
  title: string;
  action: "/reset-password" | "/register/complete";
  /** Of a passkey's challenge. */
  purpose: "reset" | "register";
  submit: string;
  /** The text that says what to do if the link has just been used. */
  used: "reset.used" | "complete.used";
  again: "/forgot-password" | "/register" | null;
}

type PasskeyInsteadProps = Pick<MailedLinkPageProps, "action" | "purpose"> & { link: LinkParameters };

function PasskeyInstead({ action, purpose, link }: PasskeyInsteadProps) {
  const t = useTexts();
  const submit = useSubmit();
  const [isKnown, setIsKnown] = useState(false);

  /** If it fails, the server gets a text that is no answer, and says what works: the link may be used by now. */
  async function create(event: FormEvent) {
    event.preventDefault();
    const { email, token, return_to: returnTo } = link;
    const passkey = await import("~/components/passkey.client")
      .then(({ createPasskey }) => createPasskey({ purpose, email, token }))
      .catch((error: Error) => (error.name === "InvalidStateError" ? "known" : "failed"));
    setIsKnown(passkey === "known");
    if (passkey === null || passkey === "known") return;
    submit({ email, token, passkey, ...(returnTo && { [returnToName]: returnTo }) }, { method: "post", action });
  }

  return (
    <div {...usePasskeySupport()}>
      <p className="or">{t("common.or")}</p>
      {isKnown && (
        <Notice role="alert">
          <Text
            of="link.passkeyExists"
            parts={{ login: (text) => <Link to={withReturnTo("/login?notice=passkey", link.return_to)}>{text}</Link> }}
          />
        </Notice>
      )}
      <Form method="post" action={action} onSubmit={create}>
        <SubmitButton className="quiet" intent="passkey">
          {t("link.passkeyInstead")}
          <Mark of="passkey" />
        </SubmitButton>
      </Form>
    </div>
  );
}

const problems = { dead: "link.dead", incomplete: "link.incomplete" } as const;

export function MailedLinkPage({ title, action, purpose, submit, used, again }: MailedLinkPageProps) {
  const t = useTexts();
  const { problem, passkeys, ...opened } = useLoaderData<OpenedLink>();
  const refused = useActionData<LinkRefusal>();
  const link: LinkParameters = { ...opened, ...refused?.typed };
  const { email, token, return_to: returnTo } = link;
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
        {refused?.errors?.passkey && <Notice role="alert">{refused.errors.passkey}</Notice>}
        <Form method="post" action={action}>
          <input type="hidden" name="token" value={token} />
          {returnTo && <input type="hidden" name={returnToName} value={returnTo} />}
          <EmailField value={email} readOnly error={refused?.errors?.email} />
          <NewPasswordFields email={email} errors={refused?.errors ?? {}} />
          <SubmitButton>{submit}</SubmitButton>
        </Form>
        {passkeys && !problem && <PasskeyInstead action={action} purpose={purpose} link={link} />}
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
