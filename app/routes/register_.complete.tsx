import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { useLoaderData } from "@remix-run/react";
import { passwordProblem } from "#server/features/password-policy.server";
import { completeRegistration, isRegistrationLinkValid, registrationMode } from "#server/features/registration.server";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { useTexts } from "~/language";
import { passwordMessage } from "~/password-messages";
import {
  browserOf,
  disconnectSignal,
  type LinkRefusal,
  linkParameters,
  readLinkForm,
  signIn,
  textsFor,
  withDevice,
} from "~/request";
import { respond, unprocessable } from "~/responses";
import { titled } from "~/title";

export const handle = titled("complete.title");

export function loader({ request }: LoaderFunctionArgs) {
  return { ...linkParameters(request), registrationClosed: registrationMode() === "closed" };
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
  const { registrationClosed } = useLoaderData<typeof loader>();
  return (
    <MailedLinkPage
      title={t("complete.title")}
      action="/register/complete"
      submit={t("complete.submit")}
      again={registrationClosed ? null : "/register"}
    />
  );
}
