import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
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
import { respond } from "~/responses";
import { withReturnTo } from "~/return-to";
import { returnToOf } from "~/return-to.server";
import { requireGuest } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Create an account · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    await requireGuest(request, returnTo);
    const provider = providerLabel();
    const email = new URL(request.url).searchParams.get("email") ?? "";
    return {
      idpEnabled: provider !== null,
      provider,
      email,
      returnTo,
      isMailLogged: isMailLogged(),
      linkMinutes: linkLifetimeMinutes,
    };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ["email"]);
    if (fields.email !== undefined) {
      await requestRegistration(fields.email, clientOf(request), returnToOf(request));
    }
    return { status: "sent" as const, email: typed.email ?? "" };
  });
}

export default function Register() {
  const { idpEnabled, provider, email, returnTo, isMailLogged, linkMinutes } = useLoaderData<typeof loader>();
  const sent = useActionData<typeof action>();
  if (sent) {
    return (
      <SentPage
        sent={sent}
        outcome={(address) => <>If mail reaches {address}, a link to finish creating the account is on its way.</>}
        again={withReturnTo("/register", returnTo)}
        login={withReturnTo("/login", returnTo)}
        isMailLogged={isMailLogged}
        linkMinutes={linkMinutes}
      />
    );
  }
  return (
    <Page title="Create an account">
      <p>We will mail you a link to choose a password with.</p>
      <EmailForm action={withReturnTo("/register", returnTo)} email={email} submit="Continue" />
      {idpEnabled && <ExternalSignIn provider={provider} returnTo={returnTo} />}
      <p className="aside">
        Already have an account? <Link to={withReturnTo("/login", returnTo)}>Log in</Link>
      </p>
    </Page>
  );
}
