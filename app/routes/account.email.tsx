import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import type { ReactNode } from "react";
import {
  accountOfEmailChange,
  changeEmail,
  declineEmailChange,
  isEmailChangeLive,
} from "#server/features/owner/email-change";
import { linkMinutes } from "#server/rules";
import { respond, unprocessable } from "~/answers/responses";
import { EmailField, SubmitButton } from "~/components/form-controls";
import { Notice, Page } from "~/components/page";
import { Text, usePage, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { openedLink } from "~/forms/mailed-link";
import { accountWith, loginWith } from "~/visitor/notices";
import { getUser, keepSession } from "~/visitor/session";
import { textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("confirmEmail.title");

/** The page names no account: the session may belong to another one. */
export function loader({ request }: LoaderFunctionArgs) {
  return respond(() => openedLink(request, isEmailChangeLive));
}

interface Answer {
  typed: { email: string; token: string };
  account?: string;
  invalidLink?: string;
  outcome?: "declined" | "another_account";
}

/** Confirms the change, or declines it (intent `decline`). The page first asks for the account (intent `show`). */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, "email", "token", "intent");
    const { intent, ...link } = fields;
    const refuse = (why: Omit<Answer, "typed">) => unprocessable<Answer>({ typed: link, ...why });
    const invalidLink = textsFor(request)("link.invalid");

    if (intent === "decline") {
      await declineEmailChange(link);
      return data<Answer>({ typed: link, outcome: "declined" });
    }
    const owner = await getUser(request, true);
    if (intent === "show") {
      const account = await accountOfEmailChange(link);
      if (account === null) return refuse({ invalidLink });
      if (owner && owner.user.email !== account) return refuse({ outcome: "another_account" });
      return data<Answer>({ typed: link, account });
    }
    const changed = await changeEmail(owner ?? visitorOf(request), link);
    if (changed === "invalid_link") return refuse({ invalidLink });
    if (changed === "another_account") return refuse({ outcome: changed });
    return changed.kept
      ? keepSession(request, changed.kept, accountWith("email_changed"))
      : redirect(loginWith("email_changed"));
  });
}

export default function ConfirmEmail() {
  const t = useTexts();
  const loaded = useLoaderData<typeof loader>();
  const answer = useActionData<Answer>();
  const link = answer?.typed ?? loaded;
  const invalid = answer ? answer.invalidLink : loaded.problem && t(`link.${loaded.problem}`);
  const confirmation = <Confirmation email={link.email} token={link.token} account={answer?.account} />;
  return (
    <Page title={t("confirmEmail.title")}>
      {invalid ? (
        <InvalidEmailLink message={invalid}>{!answer && confirmation}</InvalidEmailLink>
      ) : answer?.outcome === "declined" ? (
        <Notice role="status">{t("confirmEmail.declined")}</Notice>
      ) : answer?.outcome === "another_account" ? (
        <Notice role="alert">
          <Text of="confirmEmail.anotherAccount" part={<Link to="/dashboard" />} />
        </Notice>
      ) : (
        confirmation
      )}
    </Page>
  );
}

function Confirmation({ email, token, account }: { email: string; token: string; account: string | undefined }) {
  const t = useTexts();
  const action = `?${new URLSearchParams({ email, token })}`;
  return (
    <>
      {account === undefined ? (
        <p>{t("confirmEmail.which")}</p>
      ) : (
        <>
          <dl className="addresses">
            <dt>{t("confirmEmail.oldAddress")}</dt>
            <dd dir="ltr">{account}</dd>
            <dt>{t("confirmEmail.newAddress")}</dt>
            <dd dir="ltr">{email}</dd>
          </dl>
          <p>{t("confirmEmail.lead")}</p>
        </>
      )}
      <Form method="post" action={action}>
        <input type="hidden" name="token" value={token} />
        {account === undefined && <input type="hidden" name="intent" value="show" />}
        {account === undefined ? (
          <EmailField value={email} readOnly />
        ) : (
          <input type="hidden" name="email" value={email} />
        )}
        <SubmitButton>{account === undefined ? t("confirmEmail.show") : t("confirmEmail.submit")}</SubmitButton>
      </Form>
      <Form method="post" action={action}>
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="intent" value="decline" />
        <SubmitButton className="quiet">{t("confirmEmail.decline")}</SubmitButton>
      </Form>
    </>
  );
}

function InvalidEmailLink({ message, children }: { message: string; children: ReactNode }) {
  const { t } = usePage();
  return (
    <>
      <Notice role="alert">{message}</Notice>
      <p>{t("confirmEmail.linkWorks", { count: linkMinutes })}</p>
      <p>
        <Text of="confirmEmail.askAgain" part={<Link to="/dashboard" />} />
      </p>
      {children && (
        <details>
          <summary>{t("link.formAnyway")}</summary>
          {children}
        </details>
      )}
    </>
  );
}
