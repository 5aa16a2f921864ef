import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { redirect } from "@remix-run/node";
import { Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import { changeEmail } from "#server/features/email-change.server";
import { linkLifetimeMinutes } from "#server/rules";
import { EmailField } from "~/components/field";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SubmitButton } from "~/components/submit-button";
import { type LinkRefusal, linkParameters, readLink } from "~/mailed-link.server";
import { respond, unprocessable } from "~/responses";
import { getUser } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Confirm your new email address · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return linkParameters(request);
}

const invalidLink = "This link is invalid or has expired.";

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, typed } = await readLink(request);
    const signedIn = await getUser(request);

    const userId = await changeEmail(link, signedIn?.sessionId ?? null);
    if (userId === null) return unprocessable<LinkRefusal>({ typed, invalidLink });
    return redirect(signedIn?.user.id === userId ? "/dashboard" : "/login?notice=email_changed");
  });
}

export default function ConfirmEmail() {
  const { email, token } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  if (refused?.invalidLink) {
    return (
      <Page title="Confirm your new email address">
        <Notice role="alert">{refused.invalidLink}</Notice>
        <p>A link works once, and for {linkLifetimeMinutes} minutes.</p>
        <p>
          You can ask for a new one on <Link to="/dashboard">your account page</Link>.
        </p>
      </Page>
    );
  }
  return (
    <Page title="Confirm your new email address">
      <p>Confirm it only if you asked for this yourself. You will then log in with this address:</p>
      <Form method="post" action="/account/email">
        <input type="hidden" name="token" value={token} />
        <EmailField value={email} readOnly />
        <SubmitButton>Confirm the address</SubmitButton>
      </Form>
    </Page>
  );
}
