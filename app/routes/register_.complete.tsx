import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { useLoaderData } from "@remix-run/react";
import { config } from "#server/config";
import { passwordProblem } from "#server/features/visitor/password-policy";
import {
  completeRegistration,
  isRegistrationLinkLive,
  isRegistrationLinkValid,
} from "#server/features/visitor/registration";
import { allowFormTarget, respond, returnToOf, unprocessable } from "~/answers/responses";
import { returnToName } from "~/answers/return-to";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { type LinkRefusal, openedLink, readLinkForm } from "~/forms/mailed-link";
import { passwordMessage } from "~/forms/password-messages";
import { signIn } from "~/visitor/session";
import { textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("complete.title", { password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    const link = await openedLink(request, isRegistrationLinkLive);
    const registrationClosed = config().registration.mode === "closed";
    const loaded = { ...link, ...(returnTo && { [returnToName]: returnTo }), registrationClosed };
    allowFormTarget(request, returnTo);
    return loaded;
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { link, newPassword, typed, returnTo } = await readLinkForm(request);
    const t = textsFor(request);
    const refuse = (why: Pick<LinkRefusal, "invalidLink" | "errors">) => {
      allowFormTarget(request, returnTo);
      return unprocessable<LinkRefusal>({ typed, ...why });
    };
    const invalidLink = t("link.invalid");

    if (!(await isRegistrationLinkValid(link))) return refuse({ invalidLink });

    const problem = await passwordProblem(newPassword);
    if (problem) return refuse({ errors: passwordMessage(t, problem) });

    const done = await completeRegistration(visitorOf(request), link, newPassword.password);
    if (!done) return refuse({ invalidLink });
    return signIn(request, { ...done, way: "password", returnTo });
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
