import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { useActionData } from "@remix-run/react";
import { signInWithoutProof } from "#server/features/visitor/development";
import { requireLoopbackHost } from "~/answers/development";
import { respond, unprocessable } from "~/answers/responses";
import { EmailForm } from "~/components/form-controls";
import { Notice, Page } from "~/components/page";
import { readFields } from "~/forms/form";
import { returnToOf } from "~/visitor/page-query";
import { signIn } from "~/visitor/session";
import { visitorOf } from "~/visitor/visitor";

export function loader({ request }: LoaderFunctionArgs) {
  requireLoopbackHost(request);
  return null;
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    requireLoopbackHost(request);
    const { fields, sent } = await readFields(request, "email", "groups");
    const session = await signInWithoutProof(visitorOf(request), fields.email, sent.groups);
    if (!session) return unprocessable({ email: fields.email });
    return signIn(request, { session, way: "password", returnTo: returnToOf(request) });
  });
}

/** Creates a user and signs in. The route exists in development only (remix.config.js). */
export default function DevelopmentSession() {
  const refused = useActionData<{ email: string }>();
  return (
    <Page title="Sign in without a mail">
      {refused && (
        <Notice role="alert">
          This is not an email address, its account is suspended, or a name is not that of a group.
        </Notice>
      )}
      <EmailForm action="/dev/session" email={refused?.email ?? ""} submit="Sign in" />
    </Page>
  );
}
