import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { data, Link, useActionData, useLoaderData, useLocation } from "@remix-run/react";
import { Fragment } from "react";
import { factsOf } from "#server/door/request-facts";
import { activeSessions } from "#server/features/owner/own-sessions";
import { passkeysOf } from "#server/features/owner/passkeys";
import { providerLabel } from "#server/features/visitor/external-sign-in";
import { offersPasskeys } from "#server/features/visitor/passkey-sign-in";
import { consentOrigin } from "#server/provider/client";
import { passkeyOffer, shownPasskeys, shownSessions } from "~/account/account-page";
import { type Refusal, runAccountAction } from "~/account/actions";
import { respond } from "~/answers/responses";
import { AccountDetails, DeleteAccount, Person, SessionList } from "~/components/account-details";
import { Notice, Page } from "~/components/page";
import { Questions, WaysIn } from "~/components/ways-in";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { allowLogOut, mustSignInAgain, requireUser } from "~/visitor/session";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("common.accountTitle");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const owner = await requireUser(request, "/login");
    const {
      name,
      email,
      pictureUrl: picture,
      hasPassword: password,
      isLinked: linked,
      isLinkQuestioned: linkQuestioned,
      isUndeliverable: undeliverable,
    } = owner.user;
    const sessions = await activeSessions(owner.user.id);
    const passkeys = offersPasskeys(factsOf(request).origin) ? await passkeysOf(owner.user.id) : null;
    const { offer, headers } = passkeyOffer(request, owner, passkeys);
    const provider = providerLabel(owner.language);
    allowLogOut(request, linked ? null : consentOrigin());
    const page = {
      user: { name, email, picture, password, linked, linkQuestioned, undeliverable },
      provider,
      canConnect: provider !== null && !linked,
      passkeys: passkeys && { ...shownPasskeys(owner, passkeys), ...offer },
      sessions: shownSessions(owner, sessions),
      signInAgain: mustSignInAgain(owner),
      notice: new URL(request.url).searchParams.get("notice"),
    };
    return data(page, { headers });
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(() => runAccountAction(request));
}

export default function Dashboard() {
  const t = useTexts();
  const { user, passkeys, canConnect, notice, sessions, ...loaded } = useLoaderData<typeof loader>();
  const provider = loaded.provider ?? t("account.externalSignIn");
  const waysIn = { ...user, provider, canConnect, passkeys };
  const { key } = useLocation();
  const result = useActionData<{ done?: string } & Partial<Refusal>>();
  const errors = result?.errors ?? {};
  const notices = new Map([
    ["email_changed", t("account.emailChanged")],
    ["idp_connected", t("account.connected", { provider })],
    ["idp_disconnected", t("account.disconnected")],
    ["password_changed", t("account.passwordChanged")],
    ["sessions_ended", t("account.otherSessionsEnded")],
  ]);
  const failed = !result && notice === "idp_failed" && t("account.connectFailed", { provider });
  const done = result ? result.done : notices.get(notice ?? "");
  const problem =
    errors.intent ??
    errors.question ??
    errors.sessionId ??
    errors.passwordLink ??
    errors.provider ??
    errors.passkey ??
    failed;
  return (
    <Page title={t("common.accountTitle")} wide>
      <Person {...user} />
      {done && <Notice role="status">{done}</Notice>}
      {user.undeliverable && (
        <Notice role="status" calm>
          {t("account.undeliverable", { email: user.email, details: t("account.details") })}
        </Notice>
      )}
      {problem && <Notice role="alert">{problem}</Notice>}
      {/* A new key after each action: the forms are closed and empty again, as after a page load. */}
      <Fragment key={key}>
        <Questions {...waysIn} />
        <WaysIn {...waysIn} />
        <SessionList sessions={sessions} />
        <p className="aside">
          <Link to="/account/activity">{t("sessions.activity")}</Link>
        </p>
        <AccountDetails email={user.email} />
        <DeleteAccount />
      </Fragment>
    </Page>
  );
}
