import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { config } from "#server/config";
import { completeRegistration, isRegistrationLinkLive } from "#server/features/visitor/registration";
import { allowedReturn, allowFormTarget, respond, returnToOf, unprocessable } from "~/answers/responses";
import { returnToName } from "~/answers/return-to";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { type LinkRefusal, openedLink, wayInFields, wayInMessage } from "~/forms/mailed-link";
import { signIn } from "~/visitor/session";
import { textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("complete.title", { password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    const link = await openedLink(request, isRegistrationLinkLive);
    const registrationClosed = config().registration.mode === "closed";
    allowFormTarget(request, returnTo);
    return { ...link, ...(returnTo && { [returnToName]: returnTo }), registrationClosed };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ...wayInFields, returnToName);
    const returnTo = allowedReturn(fields[returnToName]);
    const t = textsFor(request);
    const refuse = (why: Pick<LinkRefusal, "invalidLink" | "errors">) => {
      allowFormTarget(request, returnTo);
      const { [returnToName]: _, ...link } = typed;
      return unprocessable<LinkRefusal>({ typed: { ...link, ...(returnTo && { [returnToName]: returnTo }) }, ...why });
    };
    const done = await completeRegistration(visitorOf(request), fields);
    if (done === "invalid_link") return refuse({ invalidLink: t("link.invalid") });
    if ("problem" in done) return refuse({ errors: wayInMessage(t, done.problem) });
    return signIn(request, { ...done, returnTo });
  });
}

export default function CompleteRegistration() {
  return <MailedLinkPage purpose="register" />;
}
