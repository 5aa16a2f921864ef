import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { isMailLogged } from "#server/features/visitor/development";
import { requestPasswordReset } from "#server/features/visitor/password-reset";
import { EmailForm } from "~/components/form-controls";
import { Page, Unavailable } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { askForMail } from "~/forms/mailed-link";
import { visitorOf } from "~/visitor/visitor";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("common.forgotPassword", {
  description: "forgot.description",
  listed: true,
  password: true,
});

export function loader({ request }: LoaderFunctionArgs) {
  return {
    email: new URL(request.url).searchParams.get("email") ?? "",
    isMailLogged: isMailLogged(),
  };
}

export function action({ request }: ActionFunctionArgs) {
  return askForMail(request, (email) => requestPasswordReset(visitorOf(request), email));
}

export default function ForgotPassword() {
  const t = useTexts();
  const { email, isMailLogged } = useLoaderData<typeof loader>();
  const answer = useActionData<typeof action>();
  if (answer && "status" in answer) {
    return (
      <SentPage
        sent={answer}
        outcome="forgot.sent"
        again="/forgot-password"
        login="/login"
        isMailLogged={isMailLogged}
      />
    );
  }
  return (
    <Page title={t("common.forgotPassword")}>
      {answer && <Unavailable requestId={answer.fault} />}
      <p>{t("forgot.lead")}</p>
      <EmailForm action="/forgot-password" email={answer?.email ?? email} submit={t("forgot.send")} />
      <p className="aside">
        <Link to="/login">{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}
