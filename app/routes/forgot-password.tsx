import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { isMailLogged } from "#server/features/visitor/mail-preview";
import { requestPasswordReset } from "#server/features/visitor/password-reset";
import { respond } from "~/answers/responses";
import { EmailForm } from "~/components/form-controls";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { visitorOf } from "~/visitor/visitor";

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
  return respond(async () => {
    const { fields, typed } = await readFields(request, ["email"]);
    if (fields.email !== undefined) await requestPasswordReset(visitorOf(request), fields.email);
    return { status: "sent" as const, email: typed.email ?? "" };
  });
}

export default function ForgotPassword() {
  const t = useTexts();
  const { email, isMailLogged } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage sent={sent} outcome="forgot.sent" again="/forgot-password" login="/login" isMailLogged={isMailLogged} />
    );
  }
  return (
    <Page title={t("common.forgotPassword")}>
      <p>{t("forgot.lead")}</p>
      <EmailForm action="/forgot-password" email={email} submit={t("forgot.send")} />
      <p className="aside">
        <Link to="/login">{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}
