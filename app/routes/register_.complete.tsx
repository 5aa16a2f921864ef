import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { useLoaderData } from "@remix-run/react";
import { config } from "#server/config";
import { completeRegistration, invitationOf, isRegistrationLinkLive } from "#server/features/visitor/registration";
import { providerLabel } from "#server/provider/label";
import { allowSignIn, respond, unprocessable } from "~/answers/responses";
import { CookiesBlocked } from "~/components/cookies-blocked";
import { ExternalSignIn } from "~/components/external-sign-in";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { type LinkRefusal, openedWayInLink, wayInFields, wayInMessage } from "~/forms/mailed-link";
import { writeNotice } from "~/visitor/cookies";
import { allowedReturn, inAppBrowserOf, returnToOf } from "~/visitor/page-query";
import { signIn } from "~/visitor/session";
import { languageOf, textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("complete.title", { password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const returnTo = returnToOf(request);
    const link = await openedWayInLink(request, isRegistrationLinkLive);
    const invitation = link.problem === null ? await invitationOf(link.email) : null;
    const invited = invitation && {
      name: invitation.name ?? "",
      provider: providerLabel(languageOf(request)),
      inApp: inAppBrowserOf(request),
    };
    const registrationClosed = config().registration.mode === "closed";
    allowSignIn(request, returnTo);
    return {
      ...link,
      ...(returnTo && { return_to: returnTo }),
      registrationClosed,
      ...(invited && { name: invited.name, invited }),
    };
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ...wayInFields, "name", "return_to");
    const returnTo = allowedReturn(fields.return_to);
    const t = textsFor(request);
    const refuse = (why: Pick<LinkRefusal, "invalidLink" | "errors">) => {
      allowSignIn(request, returnTo);
      const { return_to: _, ...link } = typed;
      return unprocessable<LinkRefusal>({ typed: { ...link, ...(returnTo && { return_to: returnTo }) }, ...why });
    };
    const done = await completeRegistration(visitorOf(request), fields);
    if (done === "invalid_link") return refuse({ invalidLink: t("link.invalid") });
    if ("problem" in done) return refuse({ errors: wayInMessage(t, done.problem) });
    const headers = new Headers();
    if (returnTo === null) headers.set("Set-Cookie", writeNotice(request, { notice: "registered" }));
    return signIn(request, { ...done, returnTo, headers });
  });
}

export default function CompleteRegistration() {
  const t = useTexts();
  const { invited, return_to: returnTo = null } = useLoaderData<typeof loader>();
  const before = (
    <>
      <CookiesBlocked />
      {invited && <p>{t("complete.invited")}</p>}
    </>
  );
  const externalSignIn = invited?.provider && <ExternalSignIn {...invited} returnTo={returnTo} maxAge={null} />;
  return <MailedLinkPage purpose="register" before={before} externalSignIn={externalSignIn} />;
}
