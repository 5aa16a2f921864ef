import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { passwordProblem } from "#server/features/password-policy.server";
import { completeRegistration, isRegistrationLinkValid } from "#server/features/registration.server";
import { disconnectSignal } from "#server/http/request-facts.server";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { withDevice } from "~/device.server";
import { useTexts } from "~/language";
import { textsFor } from "~/language.server";
import { type LinkRefusal, linkParameters, readLinkForm } from "~/mailed-link.server";
import { passwordMessage } from "~/password-messages";
import { respond, unprocessable } from "~/responses";
import { browserOf, signIn } from "~/session.server";
import { titled } from "~/title";

export const handle = titled("complete.title");

export function loader({ request }: LoaderFunctionArgs) {
  return linkParameters(request);
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed } = await readLinkForm(request);
    const t = textsFor(request);
    const invalidLink = t("link.invalid");

    if (!(await isRegistrationLinkValid(link))) return unprocessable<LinkRefusal>({ typed, invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return unprocessable<LinkRefusal>({ typed, errors: passwordMessage(t, problem) });

    const done = await completeRegistration(link, newPassword.password, browserOf(request), disconnectSignal());
    if (!done) return unprocessable<LinkRefusal>({ typed, invalidLink });
    return withDevice(request, signIn(request, done.session), done.deviceToken);
  });
}

export default function CompleteRegistration() {
  const t = useTexts();
  return (
    <MailedLinkPage
      title={t("complete.title")}
      action="/register/complete"
      submit={t("complete.submit")}
      again="/register"
    />
  );
}
