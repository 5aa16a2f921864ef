import { Form, Link, useActionData, useLoaderData, useSubmit } from "@remix-run/react";
import { type FormEvent, type ReactNode, useState } from "react";
import type { LinkPurpose } from "#server/features/visitor/new-way-in";
import { linkMinutes } from "#server/rules";
import { withReturnTo } from "~/answers/return-to";
import { Text, usePage, usePasskeySupport, useTexts } from "~/document/page-context";
import type { LinkParameters, LinkRefusal, WayInLink } from "~/forms/mailed-link";
import { EmailField, EmailForm, Mark, NameField, SubmitButton } from "./form-controls";
import { Notice, Page } from "./page";
import { NewPasswordFields } from "./password-field";

/** The page's texts, and the page that sends a new link. */
const pages = {
  reset: { title: "reset.title", submit: "reset.submit", used: "reset.used", askingPage: "/forgot-password" },
  register: { title: "complete.title", submit: "complete.submit", used: "complete.used", askingPage: "/register" },
} as const satisfies Record<LinkPurpose, object>;

interface MailedLinkPageProps {
  purpose: LinkPurpose;
  /** What stands before the form of a link that works. */
  before?: ReactNode;
  externalSignIn?: ReactNode;
}

export function MailedLinkPage({ purpose, before, externalSignIn }: MailedLinkPageProps) {
  const { t } = usePage();
  const { title, used, askingPage } = pages[purpose];
  const { problem, passkeys, registrationClosed, ...opened } = useLoaderData<WayInLink>();
  const refused = useActionData<LinkRefusal>();
  const link: LinkParameters = { ...opened, ...refused?.typed };
  const invalid = refused ? refused.invalidLink : problem && t(`link.${problem}`);
  const form = <WayInForm {...{ purpose, link, refused, externalSignIn }} passkeys={passkeys && !problem} />;
  if (!invalid) {
    return (
      <Page title={t(title)}>
        {before}
        {form}
      </Page>
    );
  }
  const { email, return_to: returnTo } = link;
  return (
    <Page title={t(title)}>
      <Notice role="alert">{invalid}</Notice>
      <p>{registrationClosed ? t("link.invitedHelp") : t("link.invalidHelp", { count: linkMinutes })}</p>
      <EmailForm
        action={withReturnTo(askingPage, returnTo)}
        email={email}
        submit={t(registrationClosed ? "register.invited" : "link.sendNew")}
      />
      <p className="aside">
        <Text of={used} part={<Link to={withReturnTo("/login", returnTo)} />} />
      </p>
      {!refused && (
        <details>
          <summary>{t("link.formAnyway")}</summary>
          {form}
        </details>
      )}
    </Page>
  );
}

interface WayInFormProps {
  purpose: LinkPurpose;
  link: LinkParameters;
  refused: LinkRefusal | undefined;
  passkeys: boolean;
  externalSignIn?: ReactNode;
}

/** Sets a password, or a passkey in its place. For an invited person, the provider is a third way. */
function WayInForm({ purpose, link, refused, passkeys, externalSignIn }: WayInFormProps) {
  const t = useTexts();
  const { email, token, name, return_to: returnTo } = link;
  return (
    <>
      {refused?.errors?.passkey && <Notice role="alert">{refused.errors.passkey}</Notice>}
      <Form method="post" action={addressOf(link)}>
        <input type="hidden" name="token" value={token} />
        {returnTo && <input type="hidden" name="return_to" value={returnTo} />}
        <EmailField value={email} readOnly error={refused?.errors?.email} />
        {purpose === "register" && <NameField defaultValue={name} error={refused?.errors?.name} />}
        <NewPasswordFields of="Password" email={email} errors={refused?.errors ?? {}} />
        <SubmitButton>{t(pages[purpose].submit)}</SubmitButton>
      </Form>
      {externalSignIn}
      {passkeys && <PasskeyInstead purpose={purpose} link={link} or={!externalSignIn} />}
    </>
  );
}

interface PasskeyInsteadProps {
  purpose: LinkPurpose;
  link: LinkParameters;
  or: boolean;
}

function PasskeyInstead({ purpose, link, or }: PasskeyInsteadProps) {
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
    const name = document.querySelector<HTMLInputElement>("input[name=name]")?.value;
    const fields = { email, token, passkey, ...(name && { name }), ...(returnTo && { return_to: returnTo }) };
    submit(fields, { method: "post", action: addressOf(link) });
  }

  return (
    <div {...usePasskeySupport()}>
      {or && <p className="or">{t("common.or")}</p>}
      {isKnown && (
        <Notice role="alert">
          <Text of="link.passkeyExists" part={<Link to={withReturnTo("/login?notice=passkey", link.return_to)} />} />
        </Notice>
      )}
      <Form method="post" action={addressOf(link)} onSubmit={create}>
        <SubmitButton className="quiet" intent="passkey">
          {t("link.passkeyInstead")}
          <Mark of="passkey" />
        </SubmitButton>
      </Form>
    </div>
  );
}

/** Of the link itself, so that a reload or another language after a refusal still has it. */
const addressOf = ({ email, token, return_to: returnTo }: LinkParameters) =>
  withReturnTo(`?${new URLSearchParams({ email, token })}`, returnTo);
