import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { data, useActionData, useLoaderData, useLocation } from "@remix-run/react";
import { Fragment } from "react";
import { factsOf } from "#server/door/request-facts";
import { hasPasskeys, isQuestioned, mostPasskeys, passkeysOf, signalledAccount } from "#server/features/owner/passkeys";
import { activeSessions, browserName } from "#server/features/owner/sessions";
import { consentOrigin, providerLabel } from "#server/features/visitor/external-sign-in";
import { agoIn, momentIn } from "#server/features/visitor/language";
import { runAccountAction } from "~/account/actions";
import { accountForm, type Refusal } from "~/account/answers";
import { respond, unprocessable } from "~/answers/responses";
import { AccountDetails, DeleteAccount, Person } from "~/components/account-details";
import { Notice, Page } from "~/components/page";
import { SessionList } from "~/components/session-list";
import { WaysIn } from "~/components/ways-in";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { readForm } from "~/forms/form";
import { deviceCookie, passkeyOfferedCookie } from "~/visitor/cookies";
import { languageOf } from "~/visitor/language";
import { lastWay } from "~/visitor/last-sign-in";
import { logOutTarget, mustSignInAgain, requireUser } from "~/visitor/session";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("common.accountTitle");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const signedIn = await requireUser(request, "/login");
    const { user, sessionId } = signedIn;
    const language = languageOf(request);
    const moment = (at: Date) => ({ at: at.toISOString(), ago: agoIn(language, at), exact: momentIn(language, at) });
    const sessions = await activeSessions(user.id);
    const provider = providerLabel(language);
    const passkeys = hasPasskeys(factsOf(request).origin) ? await passkeysOf(user.id) : null;
    const signInAgain = mustSignInAgain(signedIn);
    const signIn = String(signedIn.signedInAt.getTime());
    const lastOffer = passkeyOfferedCookie.read(request);
    // Who has a device cookie has signed in with a password in this browser.
    const offered = passkeys?.length === 0 && deviceCookie.read(request) !== null && lastOffer === null;
    const followsPassword = passkeys && lastWay(request) === "password" && !signInAgain && lastOffer !== signIn;
    return data(
      {
        user: {
          name: user.name,
          email: user.email,
          picture: user.pictureUrl,
          password: user.hasPassword,
          linked: user.isLinked,
        },
        provider,
        passkeys: passkeys && {
          items: passkeys.map((passkey) => ({
            id: passkey.credentialId,
            name: passkey.name,
            added: moment(passkey.createdAt),
            lastUsed: passkey.lastUsedAt ? moment(passkey.lastUsedAt) : null,
            questioned: isQuestioned(passkey),
          })),
          newName: passkeys.length < mostPasskeys ? browserName(request.headers.get("User-Agent"), language) : null,
          offered,
          upgradable: passkeys.length === 0 && followsPassword === true,
          account: signalledAccount(user.id),
        },
        canConnect: provider !== null && !user.isLinked,
        signInAgain,
        notice: new URL(request.url).searchParams.get("notice"),
        sessions: sessions
          .map(({ id, userAgent, createdAt, lastSeenAt }) => ({
            id,
            browser: browserName(userAgent, language),
            since: moment(createdAt),
            lastSeen: moment(id === sessionId ? new Date() : lastSeenAt),
            current: id === sessionId,
          }))
          .sort((a, b) => Number(b.current) - Number(a.current)),
      },
      {
        headers: {
          ...logOutTarget(request, user.isLinked ? null : consentOrigin()),
          ...((offered || followsPassword) && { "Set-Cookie": passkeyOfferedCookie.write(request, signIn) }),
        },
      },
    );
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const form = await readForm(request, accountForm());
    const signedIn = await requireUser(request, "/login");
    return form.ok
      ? runAccountAction(request, signedIn, form.values)
      : unprocessable({ errors: form.errors, typed: form.typed });
  });
}

export default function Dashboard() {
  const t = useTexts();
  const { user, passkeys, canConnect, notice, sessions, ...loaded } = useLoaderData<typeof loader>();
  const provider = loaded.provider ?? t("account.externalSignIn");
  const { key } = useLocation();
  const result = useActionData<{ done?: string } & Partial<Refusal>>();
  const errors = result?.errors ?? {};
  const notices = new Map([
    ["idp_connected", t("account.connected", { provider })],
    ["idp_disconnected", t("account.disconnected")],
    ["password_changed", t("account.passwordChanged")],
    ["sessions_ended", t("account.otherSessionsEnded")],
  ]);
  const failed = !result && notice === "idp_failed" && t("account.connectFailed", { provider });
  const done = result ? result.done : notices.get(notice ?? "");
  const problem =
    errors.intent ?? errors.sessionId ?? errors.passwordLink ?? errors.provider ?? errors.passkey ?? failed;
  return (
    <Page title={t("common.accountTitle")} wide>
      <Person {...user} />
      {done && <Notice role="status">{done}</Notice>}
      {problem && <Notice role="alert">{problem}</Notice>}
      {/* A new key after each action: the forms are closed and empty again, as after a page load. */}
      <Fragment key={key}>
        <WaysIn {...user} provider={provider} canConnect={canConnect} passkeys={passkeys} />
        <SessionList sessions={sessions} />
        <AccountDetails email={user.email} />
        <DeleteAccount />
      </Fragment>
    </Page>
  );
}
