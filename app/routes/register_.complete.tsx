import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { data, useLoaderData } from "@remix-run/react";
import { passwordProblem } from "#server/features/visitor/password-policy.server";
import { respond } from "~/answers/responses";
import { returnToName } from "~/answers/return-to";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { passwordMessage } from "~/forms/password-messages";
import {
  browserOf,
  completeRegistration,
  formTarget,
  isRegistrationLinkLive,
  isRegistrationLinkValid,
  type LinkRefusal,
  languageOf,
  openedLink,
  readLinkForm,
  registrationMode,
  requesterOf,
  returnToOf,
  signIn,
  textsFor,
  withDevice,
} from "~/request";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("complete.title", { password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    const link = await openedLink(request, isRegistrationLinkLive);
    const registrationClosed = registrationMode() === "closed";
    const loaded = { ...link, ...(returnTo && { [returnToName]: returnTo }), registrationClosed };
    return data(loaded, { headers: formTarget(request, returnTo) });
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed, returnTo } = await readLinkForm(request);
    const t = textsFor(request);
    const refuse = (why: Pick<LinkRefusal, "invalidLink" | "errors">) =>
      data<LinkRefusal>({ typed, ...why }, { status: 422, headers: formTarget(request, returnTo) });
    const invalidLink = t("link.invalid");

    if (!(await isRegistrationLinkValid(link))) return refuse({ invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return refuse({ errors: passwordMessage(t, problem) });

    const { password } = newPassword;
    const language = languageOf(request);
    const done = await completeRegistration(link, password, browserOf(request), language, requesterOf(request));
    if (!done) return refuse({ invalidLink });
    const end = { session: done.session, way: "password", returnTo } as const;
    return withDevice(request, signIn(request, end), done.deviceToken);
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
      used="complete.used"
      again={registrationClosed ? null : "/register"}
    />
  );
}
