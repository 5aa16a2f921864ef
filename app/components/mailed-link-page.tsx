import { Form, Link, useActionData, useLoaderData, useSubmit } from "@remix-run/react";
import { type FormEvent, useState } from "react";
import { linkLifetimeMinutes } from "#server/rules";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { Text, usePasskeySupport, useTexts } from "~/document/page-context";
import type { LinkParameters, LinkRefusal, OpenedLink } from "~/forms/mailed-link";
import { EmailField, EmailForm, Mark, SubmitButton } from "./form-controls";
import { Notice, Page } from "./page";
import { NewPasswordFields } from "./password-field";

/** By the purpose of a passkey's challenge: the page's texts, and the page that sends a new link. */
const pages = {
  reset: { title: "reset.title", submit: "reset.submit", used: "reset.used", askingPage: "/forgot-password" },
  register: { title: "complete.title", submit: "complete.submit", used: "complete.used", askingPage: "/register" },
} as const;

type Purpose = keyof typeof pages;

function PasskeyInstead({ purpose, link }: { purpose: Purpose; link: LinkParameters }) {
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
    submit({ email, token, passkey, ...(returnTo && { [returnToName]: returnTo }) }, { method: "post", action: "." });
  }

  return (
    <div {...usePasskeySupport()}>
      <p className="or">{t("common.or")}</p>
      {isKnown && (
        <Notice role="alert">
          <Text of="link.passkeyExists" part={<Link to={withReturnTo("/login?notice=passkey", link.return_to)} />} />
        </Notice>
      )}
      <Form method="post" action="." onSubmit={create}>
        <SubmitButton className="quiet" intent="passkey">
          {t("link.passkeyInstead")}
          <Mark of="passkey" />
        </SubmitButton>
      </Form>
    </div>
  );
}

const problems = { dead: "link.dead", incomplete: "link.incomplete" } as const;

export function MailedLinkPage({ purpose }: { purpose: Purpose }) {
  const t = useTexts();
  const { title, submit, used, askingPage } = pages[purpose];
  const { problem, passkeys, registrationClosed, ...opened } = useLoaderData<OpenedLink>();
  const refused = useActionData<LinkRefusal>();
  const link: LinkParameters = { ...opened, ...refused?.typed };
  const { email, token, return_to: returnTo } = link;
  const again = registrationClosed ? null : askingPage;
  if (!refused?.invalidLink) {
    const askAgain = again && `${again}?${new URLSearchParams({ email })}`;
    return (
      <Page title={t(title)}>
        {problem && !refused && (
          <Notice role="alert">
            {t(problems[problem])}{" "}
            {askAgain && <Text of="link.askAgain" part={<Link to={withReturnTo(askAgain, returnTo)} />} />}
          </Notice>
        )}
        {refused?.errors?.passkey && <Notice role="alert">{refused.errors.passkey}</Notice>}
        <Form method="post" action=".">
          <input type="hidden" name="token" value={token} />
          {returnTo && <input type="hidden" name={returnToName} value={returnTo} />}
          <EmailField value={email} readOnly error={refused?.errors?.email} />
          <NewPasswordFields email={email} errors={refused?.errors ?? {}} />
          <SubmitButton>{t(submit)}</SubmitButton>
        </Form>
        {passkeys && !problem && <PasskeyInstead purpose={purpose} link={link} />}
      </Page>
    );
  }
  return (
    <Page title={t(title)}>
      <Notice role="alert">{refused.invalidLink}</Notice>
      <p>
        <Text of={used} part={<Link to={withReturnTo("/login", returnTo)} />} />
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
