import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Link, useActionData, useLoaderData } from "@remix-run/react";
import { config } from "#server/config";
import { isMailLogged } from "#server/features/visitor/development";
import { requestRegistration } from "#server/features/visitor/registration";
import { providerLabel } from "#server/provider/label";
import { respond } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { CookiesBlocked } from "~/components/cookies-blocked";
import { ExternalSignIn } from "~/components/external-sign-in";
import { EmailForm } from "~/components/form-controls";
import { Page, Unavailable } from "~/components/page";
import { SentPage } from "~/components/sent-page";
import { Text, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { askForMail } from "~/forms/mailed-link";
import { inAppBrowserOf, maxAgeOf, returnToOf } from "~/visitor/page-query";
import { requireGuest } from "~/visitor/session";
import { languageOf, visitorOf } from "~/visitor/visitor";

export { pageHeaders as headers } from "~/answers/responses";

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
      inApp: inAppBrowserOf(request),
      registration: config().registration.mode,
      email,
      returnTo,
      maxAge: maxAgeOf(request),
      isMailLogged: isMailLogged(),
    };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return askForMail(request, (email) => requestRegistration(visitorOf(request), email, returnToOf(request)));
}

const outcomes = { open: "register.sent", domains: "register.sentDomains", closed: "register.sentInvited" } as const;

export default function Register() {
  const t = useTexts();
  const { idpEnabled, provider, inApp, registration, email, returnTo, maxAge, isMailLogged } =
    useLoaderData<typeof loader>();
  const answer = useActionData<typeof action>();
  const form = { action: withReturnTo("/register", returnTo, maxAge), email: answer?.email ?? email };
  const logIn = (
    <p className="aside">
      <Text of="register.logIn" part={<Link to={withReturnTo("/login", returnTo, maxAge)} />} />
    </p>
  );
  if (answer && "status" in answer) {
    return (
      <SentPage
        sent={answer}
        outcome={outcomes[registration]}
        again={form.action}
        login={withReturnTo("/login", returnTo, maxAge)}
        isMailLogged={isMailLogged}
      />
    );
  }
  if (registration === "closed") {
    return (
      <Page title={t("register.title")}>
        <p>{t("register.closed")}</p>
        {answer && <Unavailable requestId={answer.fault} />}
        <EmailForm {...form} submit={t("register.invited")} quiet />
        {logIn}
      </Page>
    );
  }
  return (
    <Page title={t("register.title")}>
      <CookiesBlocked />
      {answer && <Unavailable requestId={answer.fault} />}
      <p>
        {registration === "domains" && `${t("register.domains")} `}
        {t("register.lead")}
      </p>
      <EmailForm {...form} submit={t("register.next")} />
      {idpEnabled && <ExternalSignIn provider={provider} inApp={inApp} returnTo={returnTo} maxAge={maxAge} />}
      {logIn}
    </Page>
  );
}
