import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { passwordProblem } from "#server/features/password-policy.server";
import { completeRegistration, isRegistrationLinkValid } from "#server/features/registration.server";
import { requesterOf } from "#server/http/request-facts.server";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { withDevice } from "~/device.server";
import { type LinkRefusal, linkParameters, readLinkForm } from "~/mailed-link.server";
import { passwordMessages } from "~/password-messages";
import { respond, unprocessable } from "~/responses";
import { browserOf, signIn } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Finish creating your account · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return linkParameters(request);
}

const invalidLink = "This link is invalid or has expired.";

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed } = await readLinkForm(request);

    if (!(await isRegistrationLinkValid(link))) return unprocessable<LinkRefusal>({ typed, invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return unprocessable<LinkRefusal>({ typed, errors: passwordMessages[problem] });

    const done = await completeRegistration(link, newPassword.password, browserOf(request), requesterOf(request));
    if (!done) return unprocessable<LinkRefusal>({ typed, invalidLink });
    return withDevice(request, signIn(request, done.session), done.deviceToken);
  });
}

export default function CompleteRegistration() {
  return (
    <MailedLinkPage
      title="Finish creating your account"
      action="/register/complete"
      submit="Create the account"
      again="/register"
    />
  );
}
