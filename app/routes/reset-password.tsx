import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { redirect } from "@remix-run/react";
import { passwordProblem } from "#server/features/visitor/password-policy";
import { isResetLinkLive, isResetLinkValid, resetPassword } from "#server/features/visitor/password-reset";
import { respond, unprocessable } from "~/answers/responses";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { type LinkRefusal, openedLink, readLinkForm } from "~/forms/mailed-link";
import { passwordMessage } from "~/forms/password-messages";
import { deviceCookie } from "~/visitor/cookies";
import { textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("reset.title", { description: "forgot.description", password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(() => openedLink(request, isResetLinkLive));
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed } = await readLinkForm(request);
    const t = textsFor(request);
    const invalidLink = t("link.invalidReset");

    if (!(await isResetLinkValid(link))) return unprocessable<LinkRefusal>({ typed, invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return unprocessable<LinkRefusal>({ typed, errors: passwordMessage(t, problem) });

    const deviceToken = await resetPassword(visitorOf(request), link, newPassword.password);
    if (deviceToken === null) return unprocessable<LinkRefusal>({ typed, invalidLink });
    const headers = { "Set-Cookie": deviceCookie.write(request, deviceToken) };
    return redirect("/login?notice=password_reset", { headers });
  });
}

export default function ResetPassword() {
  const t = useTexts();
  return (
    <MailedLinkPage
      title={t("reset.title")}
      action="/reset-password"
      submit={t("reset.submit")}
      used="reset.used"
      again="/forgot-password"
    />
  );
}
