import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import * as z from "zod";
import { clientOf } from "#server/connection.server";
import { providerLabel } from "#server/external-sign-in.server";
import { mailIsPrinted } from "#server/mail.server";
import { requestRegistration } from "#server/registration.server";
import { EmailForm } from "~/components/email-form";
import { ExternalSignIn } from "~/components/external-sign-in";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { emailAddress, readForm } from "~/forms.server";
import { requireGuest } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Create an account · Latchkey" }];

export async function loader({ request }: LoaderFunctionArgs) {
  await requireGuest(request);
  const provider = providerLabel();
  const email = new URL(request.url).searchParams.get("email") ?? "";
  return { idpEnabled: provider !== null, provider, email, mailIsPrinted: mailIsPrinted() };
}

export async function action({ request }: ActionFunctionArgs) {
  const form = await readForm(request, z.object({ email: emailAddress }));
  if (form.ok) await requestRegistration(form.values.email, clientOf(request));
  return { status: "sent" as const, email: form.typed.email ?? "" };
}

export default function Register() {
  const { idpEnabled, provider, email, mailIsPrinted } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome={(address) => <>If mail reaches {address}, a link to finish creating the account is on its way.</>}
        again="/register"
        mailIsPrinted={mailIsPrinted}
      />
    );
  }
  return (
    <Page title="Create an account">
      <p>We will mail you a link to choose a password with.</p>
      <EmailForm action="/register" email={email} submit="Continue" />
      {idpEnabled && <ExternalSignIn provider={provider} />}
      <p className="aside">
        Already have an account? <Link to="/login">Log in</Link>
      </p>
    </Page>
  );
}
