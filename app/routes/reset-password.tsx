import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { redirect } from "@remix-run/react";
import { passwordProblem } from "#server/features/password-policy.server";
import { isResetLinkValid, resetPassword } from "#server/features/password-reset.server";
import { requesterOf } from "#server/http/request-facts.server";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { withDevice } from "~/device.server";
import { type LinkRefusal, linkParameters, readLinkForm } from "~/mailed-link.server";
import { passwordMessages } from "~/password-messages";
import { respond, unprocessable } from "~/responses";

export const meta: MetaFunction = () => [{ title: "Choose a new password · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return linkParameters(request);
}

const invalidLink = "This reset link is invalid or has expired.";

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed } = await readLinkForm(request);

    if (!(await isResetLinkValid(link))) return unprocessable<LinkRefusal>({ typed, invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return unprocessable<LinkRefusal>({ typed, errors: passwordMessages[problem] });

    const deviceToken = await resetPassword(link, newPassword.password, requesterOf(request));
    if (deviceToken === null) return unprocessable<LinkRefusal>({ typed, invalidLink });
    return withDevice(request, redirect("/login?notice=password_reset"), deviceToken);
  });
}

export default function ResetPassword() {
  return (
    <MailedLinkPage
      title="Choose a new password"
      action="/reset-password"
      submit="Change the password"
      again="/forgot-password"
    />
  );
}
