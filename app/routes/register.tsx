import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { providerLabel } from "#server/features/external-sign-in.server";
import { isMailLogged } from "#server/features/mail-preview.server";
import { requestRegistration } from "#server/features/registration.server";
import { clientOf } from "#server/http/request-facts.server";
import { linkLifetimeMinutes } from "#server/rules";
import { EmailForm } from "~/components/email-form";
import { ExternalSignIn } from "~/components/external-sign-in";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { readFields } from "~/form.server";
import { Text, useTexts } from "~/language";
import { languageOf } from "~/language.server";
import { respond } from "~/responses";
import { requireGuest } from "~/session.server";
import { titled } from "~/title";

export const handle = titled("register.title");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    const provider = providerLabel();
    const email = new URL(request.url).searchParams.get("email") ?? "";
    return {
      idpEnabled: provider !== null,
      provider,
      email,
      isMailLogged: isMailLogged(),
      linkMinutes: linkLifetimeMinutes,
    };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ["email"]);
    if (fields.email !== undefined) await requestRegistration(fields.email, clientOf(request), languageOf(request));
    return { status: "sent" as const, email: typed.email ?? "" };
  });
}

export default function Register() {
  const t = useTexts();
  const { idpEnabled, provider, email, isMailLogged, linkMinutes } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome="register.sent"
        again="/register"
        isMailLogged={isMailLogged}
        linkMinutes={linkMinutes}
      />
    );
  }
  return (
    <Page title={t("register.title")}>
      <p>{t("register.lead")}</p>
      <EmailForm action="/register" email={email} submit={t("register.next")} />
      {idpEnabled && <ExternalSignIn provider={provider} />}
      <p className="aside">
        <Text of="register.logIn" parts={{ login: (text) => <Link to="/login">{text}</Link> }} />
      </p>
    </Page>
  );
}
