import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import { changeEmail } from "#server/features/email-change.server";
import { linkLifetimeMinutes } from "#server/rules";
import { EmailField } from "~/components/field";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SubmitButton } from "~/components/submit-button";
import { Text, useTexts } from "~/page/language";
import { titled } from "~/page/title";
import { getUser, type LinkRefusal, languageOf, linkParameters, readLinkForm, textsFor } from "~/request";
import { respond, unprocessable } from "~/request/responses";

export const handle = titled("confirmEmail.title");

export function loader({ request }: LoaderFunctionArgs) {
  return linkParameters(request);
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, typed } = await readLinkForm(request);
    const signedIn = await getUser(request);

    const userId = await changeEmail(link, signedIn?.sessionId ?? null, languageOf(request));
    if (userId === null) {
      return unprocessable<LinkRefusal>({ typed, invalidLink: textsFor(request)("link.invalid") });
    }
    return redirect(signedIn?.user.id === userId ? "/dashboard" : "/login?notice=email_changed");
  });
}

function InvalidEmailLink({ message }: { message: string }) {
  const t = useTexts();
  return (
    <>
      <Notice role="alert">{message}</Notice>
      <p>{t("confirmEmail.linkWorks", { count: linkLifetimeMinutes })}</p>
      <p>
        <Text of="confirmEmail.askAgain" parts={{ account: (text) => <Link to="/dashboard">{text}</Link> }} />
      </p>
    </>
  );
}

export default function ConfirmEmail() {
  const t = useTexts();
  const { email, token } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  return (
    <Page title={t("confirmEmail.title")}>
      {refused?.invalidLink ? (
        <InvalidEmailLink message={refused.invalidLink} />
      ) : (
        <>
          <p>{t("confirmEmail.lead")}</p>
          <Form method="post" action="/account/email">
            <input type="hidden" name="token" value={token} />
            <EmailField value={email} readOnly />
            <SubmitButton>{t("confirmEmail.submit")}</SubmitButton>
          </Form>
        </>
      )}
    </Page>
  );
}
