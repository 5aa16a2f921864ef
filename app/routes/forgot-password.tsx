import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { isMailLogged } from "#server/features/mail-preview.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { clientOf } from "#server/http/request-facts.server";
import { linkLifetimeMinutes } from "#server/rules";
import { EmailForm } from "~/components/email-form";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { readFields } from "~/form.server";
import { respond } from "~/responses";

export const meta: MetaFunction = () => [{ title: "Forgot your password? · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return {
    email: new URL(request.url).searchParams.get("email") ?? "",
    isMailLogged: isMailLogged(),
    linkMinutes: linkLifetimeMinutes,
  };
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ["email"]);
    if (fields.email !== undefined) await requestPasswordReset(fields.email, clientOf(request));
    return { status: "sent" as const, email: typed.email ?? "" };
  });
}

export default function ForgotPassword() {
  const { email, isMailLogged, linkMinutes } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome={(address) => <>If there is an account for {address}, a link to reset its password is on its way.</>}
        again="/forgot-password"
        login="/login"
        isMailLogged={isMailLogged}
        linkMinutes={linkMinutes}
      />
    );
  }
  return (
    <Page title="Forgot your password?">
      <p>Enter the email address of your account. We will mail you a link to choose a new password.</p>
      <EmailForm action="/forgot-password" email={email} submit="Send the link" />
      <p className="aside">
        <Link to="/login">Back to log in</Link>
      </p>
    </Page>
  );
}
