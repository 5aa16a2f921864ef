import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { redirect } from "@remix-run/react";
import { isResetLinkLive, resetPassword } from "#server/features/visitor/password-reset";
import { respond, unprocessable } from "~/answers/responses";
import { MailedLinkPage } from "~/components/mailed-link-page";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { type LinkRefusal, openedWayInLink, wayInFields, wayInMessage } from "~/forms/mailed-link";
import { deviceCookie, loginAddressCookie } from "~/visitor/cookies";
import { loginWith } from "~/visitor/notices";
import { textsFor, visitorOf } from "~/visitor/visitor";

export const handle = titled("reset.title", { description: "forgot.description", password: true });

export function loader({ request }: LoaderFunctionArgs) {
  return respond(() => openedWayInLink(request, isResetLinkLive));
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields, typed } = await readFields(request, ...wayInFields);
    const t = textsFor(request);
    const done = await resetPassword(visitorOf(request), fields);
    if (done === "invalid_link") return unprocessable<LinkRefusal>({ typed, invalidLink: t("link.invalidReset") });
    if ("problem" in done) return unprocessable<LinkRefusal>({ typed, errors: wayInMessage(t, done.problem) });
    const headers = new Headers({ "Set-Cookie": deviceCookie.write(request, done.deviceToken) });
    headers.append("Set-Cookie", loginAddressCookie.write(request, fields.email));
    return redirect(loginWith(fields.passkey ? "passkey_set" : "password_reset"), { headers });
  });
}

export default function ResetPassword() {
  return <MailedLinkPage purpose="reset" />;
}
