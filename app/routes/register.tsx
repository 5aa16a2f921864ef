import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { providerLabel } from "#server/features/visitor/external-sign-in";
import { isMailLogged } from "#server/features/visitor/mail-preview";
import { registrationMode, requestRegistration } from "#server/features/visitor/registration";
import { returnToOf } from "~/answers/redirects";
import { respond } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { CookiesBlocked } from "~/components/cookies-blocked";
import { ExternalSignIn } from "~/components/external-sign-in";
import { EmailForm } from "~/components/form-controls";
import { Page } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { Text, useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { languageOf } from "~/visitor/language";
import { requireGuest } from "~/visitor/session";
import { visitorOf } from "~/visitor/visitor";

export const handle = titled("register.title", { description: "register.description", listed: true, password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    await requireGuest(request, returnTo);
    const provider = providerLabel(languageOf(request));
    const email = new URL(request.url).searchParams.get("email") ?? "";
    return {
      idpEnabled: provider !== null,
      provider,
      registration: registrationMode(),
      email,
      returnTo,
      isMailLogged: isMailLogged(),
    };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ["email"]);
    if (fields.email !== undefined) {
      await requestRegistration(visitorOf(request), fields.email, returnToOf(request));
    }
    return { status: "sent" as const, email: typed.email ?? "" };
  });
}

export default function Register() {
  const t = useTexts();
  const { idpEnabled, provider, registration, email, returnTo, isMailLogged } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  const logIn = (
    <p className="aside">
      <Text
        of="register.logIn"
        parts={{ login: (text) => <Link to={withReturnTo("/login", returnTo)}>{text}</Link> }}
      />
    </p>
  );
  if (registration === "closed") {
    return (
      <Page title={t("register.title")}>
        <p>{t("register.closed")}</p>
        {logIn}
      </Page>
    );
  }
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome={registration === "domains" ? "register.sentDomains" : "register.sent"}
        again={withReturnTo("/register", returnTo)}
        login={withReturnTo("/login", returnTo)}
        isMailLogged={isMailLogged}
      />
    );
  }
  return (
    <Page title={t("register.title")}>
      <CookiesBlocked />
      <p>
        {registration === "domains" && `${t("register.domains")} `}
        {t("register.lead")}
      </p>
      <EmailForm action={withReturnTo("/register", returnTo)} email={email} submit={t("register.next")} />
      {idpEnabled && <ExternalSignIn provider={provider} returnTo={returnTo} />}
      {logIn}
    </Page>
  );
}
