import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import * as z from "zod";
import { clientOf } from "#server/connection.server";
import { mailIsPrinted } from "#server/mail.server";
import { requestPasswordReset } from "#server/password-reset.server";
import { EmailForm } from "~/components/email-form";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { emailAddress, readForm } from "~/forms.server";

export const meta: MetaFunction = () => [{ title: "Forgot your password? · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return { email: new URL(request.url).searchParams.get("email") ?? "", mailIsPrinted: mailIsPrinted() };
}

export async function action({ request }: ActionFunctionArgs) {
  const form = await readForm(request, z.object({ email: emailAddress }));
  if (form.ok) await requestPasswordReset(form.values.email, clientOf(request));
  return { status: "sent" as const, email: form.typed.email ?? "" };
}

export default function ForgotPassword() {
  const { email, mailIsPrinted } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome={(address) => <>If there is an account for {address}, a link to reset its password is on its way.</>}
        again="/forgot-password"
        mailIsPrinted={mailIsPrinted}
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
