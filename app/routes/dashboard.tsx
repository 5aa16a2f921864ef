import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { data, Link, useActionData, useLoaderData, useLocation } from "@remix-run/react";
import { Fragment, type ReactNode, useEffect, useState } from "react";
import { config } from "#server/config";
import { factsOf } from "#server/door/request-facts";
import { signInProblemIn } from "#server/events/sign-in-failures";
import { activeSessions } from "#server/features/owner/own-sessions";
import { passkeysByUse } from "#server/features/owner/passkeys";
import { offersPasskeys } from "#server/features/visitor/passkey-sign-in";
import { consentOrigin } from "#server/provider/client";
import { providerLabel } from "#server/provider/label";
import { passkeyOffer, shownPasskeys, shownSessions } from "~/account/account-page";
import { type Refusal, runAccountAction } from "~/account/actions";
import { allowFormTarget, respond } from "~/answers/responses";
import {
  AccountDetails,
  DeleteAccount,
  emailForm,
  openEmailForm,
  Person,
  SessionList,
} from "~/components/account-details";
import { Notice, noticeText, Page } from "~/components/page";
import { Questions, WaysIn } from "~/components/ways-in";
import { Text, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { noticeCookie, noticeOnce } from "~/visitor/cookies";
import { type AccountNoticeKey, noticeOf } from "~/visitor/notices";
import { accountLogin, allowLogOut, mustSignInAgain, requireUser } from "~/visitor/session";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("common.accountTitle");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const owner = await requireUser(request, accountLogin());
    const { name, email, pictureUrl, hasPassword, isLinked, isLinkQuestioned, isUndeliverable } = owner.user;
    const sessions = await activeSessions(owner.user.id);
    const passkeys = offersPasskeys(factsOf(request).origin) ? await passkeysByUse(owner.user.id) : null;
    const { offer, headers } = passkeyOffer(request, owner, passkeys);
    const provider = providerLabel(owner.language);
    allowLogOut(request, null);
    const consent = isLinked ? null : consentOrigin();
    if (consent !== null) allowFormTarget(request, consent);
    const told = noticeOnce(request);
    const removedPasskey = told.get("passkey");
    const page = {
      account: owner.user.id,
      user: { name, email, pictureUrl, hasPassword, isLinked, isLinkQuestioned, isUndeliverable },
      provider,
      canConnect: provider !== null && !isLinked,
      passkeys: passkeys && { ...shownPasskeys(owner, passkeys), ...offer },
      sessions: shownSessions(owner, sessions),
      unbound: config().deviceBoundSessions && !sessions.some(({ id, isBound }) => isBound && id === owner.sessionId),
      signInAgain: mustSignInAgain(owner),
      notice: removedPasskey === null ? (noticeOf(request) ?? told.get("notice")) : "passkey_removed",
      removedPasskey,
      connectProblem: signInProblemIn(told.get("problem")),
      hasTokens: config().accessTokens !== null,
      tokensGoOn: config().accessTokens !== null && new URL(request.url).searchParams.has("tokens"),
    };
    if (told.size > 0) headers.append("Set-Cookie", noticeCookie.clear(request));
    return data(page, { headers });
  });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(() => runAccountAction(request));
}

/** The errors that stand above the forms; the first one alone is shown. */
const aboveForms = ["intent", "question", "sessionId", "passwordLink", "removal", "provider", "passkey"];

export default function Dashboard() {
  const t = useTexts();
  const { user, passkeys, canConnect, notice, sessions, ...loaded } = useLoaderData<typeof loader>();
  useBindingRequests(loaded.unbound);
  const provider = loaded.provider ?? t("account.externalSignIn");
  const waysIn = { ...user, provider, canConnect, passkeys };
  const { key } = useLocation();
  const result = useActionData<{ done?: string } & Partial<Refusal>>();
  const errors = result?.errors ?? {};
  const { connectProblem } = loaded;
  const connectFailed = [
    t("login.idpFailed", { provider }),
    connectProblem && connectProblem !== "closed" && t(`failure.${connectProblem}`, { provider }),
    t("account.nothingChanged"),
  ];
  const failures = {
    another_account: t("account.anotherAccount"),
    idp_failed: connectFailed.filter(Boolean).join(" "),
  };
  const notices: Record<Exclude<AccountNoticeKey, keyof typeof failures>, string | null> = {
    email_changed: t("account.emailChanged"),
    idp_connected: t("account.connected", { provider }),
    idp_disconnected: t("account.disconnected"),
    passkey_removed: loaded.removedPasskey && t("passkeys.removed", { name: loaded.removedPasskey }),
    password_changed: t("account.passwordChanged"),
    password_removed: t("account.passwordRemoved"),
    registered: t("account.created"),
    sessions_ended: t("account.otherSessionsEnded"),
  };
  const done = result ? result.done : noticeText(notices, notice);
  const refusal = aboveForms.map((name) => errors[name]).find((text) => text !== undefined);
  const problem = refusal ?? (!result && noticeText(failures, notice));
  return (
    <Page title={t("common.accountTitle")} wide>
      <Person {...user} />
      <KeptNotice key={`notice ${key}`}>
        {done && (
          <Notice role="status">
            {done}
            {!result && loaded.tokensGoOn && (
              <>
                {" "}
                <Text of="tokens.goOn" part={<Link to="/account/tokens" />} />
              </>
            )}
          </Notice>
        )}
      </KeptNotice>
      {user.isUndeliverable && (
        <Notice role="status" look="warning">
          <Text
            of="account.undeliverable"
            values={{ email: user.email }}
            part={<a href={`#${emailForm}`} onClick={openEmailForm} />}
          />
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
          {loaded.hasTokens && (
            <>
              {" · "}
              <Link to="/account/tokens">{t("tokens.link")}</Link>
            </>
          )}
        </p>
        <AccountDetails {...user} />
        <DeleteAccount />
      </Fragment>
    </Page>
  );
}

/** A browser binds its session to the device before its next request: a page that is only read makes none. */
function useBindingRequests(unbound: boolean) {
  useEffect(() => {
    if (!unbound) return;
    const timers = [3_000, 60_000].map((wait) => setTimeout(() => fetch("/auth/session").catch(() => {}), wait));
    return () => timers.forEach(clearTimeout);
  }, [unbound]);
}

/** Keeps its first notice while the page's data are read again, after the browser has created a passkey by itself. */
function KeptNotice({ children }: { children: ReactNode }) {
  const [notice] = useState(children);
  return notice;
}
