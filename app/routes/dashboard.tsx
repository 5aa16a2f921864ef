import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs } from "@remix-run/node";
import { data, Form, useActionData, useLoaderData, useLocation } from "@remix-run/react";
import { Fragment } from "react";
import { consentOrigin, providerLabel } from "#server/features/external-sign-in.server";
import { agoIn, momentIn } from "#server/features/language.server";
import { activeSessions, browserName } from "#server/features/sessions.server";
import { runAccountAction } from "~/account/actions.server";
import { accountForm, type Intent, type Refusal } from "~/account/answers.server";
import { AccountDetails } from "~/components/account-details";
import { AccountNotice } from "~/components/account-notice";
import { DeleteAccount } from "~/components/delete-account";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SessionList } from "~/components/session-list";
import { SubmitButton } from "~/components/submit-button";
import { WaysIn } from "~/components/ways-in";
import { formTargetHeader } from "~/page/content-security-policy";
import { useTexts } from "~/page/language";
import { titled } from "~/page/title";
import { languageOf, mustSignInAgain, readForm, requireUser } from "~/request";
import { respond, unprocessable } from "~/request/responses";

export const handle = titled("common.accountTitle");

export const headers: HeadersFunction = ({ loaderHeaders, actionHeaders }) =>
  new Headers([...loaderHeaders, ...actionHeaders]);

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const signedIn = await requireUser(request, "/login");
    const { user, sessionId } = signedIn;
    const language = languageOf(request);
    const moment = (at: Date) => ({ at: at.toISOString(), ago: agoIn(language, at), exact: momentIn(language, at) });
    const sessions = await activeSessions(user.id);
    const provider = providerLabel(language);
    const origin = user.isLinked ? null : consentOrigin();
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
        canConnect: provider !== null && !user.isLinked,
        signInAgain: mustSignInAgain(signedIn),
        notice: new URL(request.url).searchParams.get("notice"),
        sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
          id,
          browser: browserName(userAgent, language),
          since: moment(createdAt),
          lastSeen: moment(id === sessionId ? new Date() : lastSeenAt),
          current: id === sessionId,
        })),
      },
      origin === null ? {} : { headers: { [formTargetHeader]: origin } },
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

/** The errors of one form, and what was typed into it. */
function refusalOf(result: Partial<Refusal> | undefined, intent: Intent) {
  const isRefused = result?.intent === intent;
  return { errors: (isRefused && result.errors) || {}, typed: (isRefused && result.typed) || {} };
}

export default function Dashboard() {
  const t = useTexts();
  const { user, canConnect, signInAgain, notice, sessions, ...loaded } = useLoaderData<typeof loader>();
  const provider = loaded.provider ?? t("account.externalSignIn");
  const { key } = useLocation();
  const result = useActionData<{ done?: string } & Partial<Refusal>>();
  const errors = result?.errors ?? {};
  const problem = errors.intent ?? errors.sessionId ?? errors.passwordLink ?? errors.provider;
  const emailChange = refusalOf(result, "change-email");
  const deletion = refusalOf(result, "delete-account");
  const logOut = (
    <Form method="post" action="/logout">
      <SubmitButton className="quiet" action="/logout">
        {t("account.logOut")}
      </SubmitButton>
    </Form>
  );
  return (
    <Page title={t("common.accountTitle")} wide aside={logOut}>
      {!result && <AccountNotice notice={notice} provider={provider} />}
      {result?.done && <Notice role="status">{result.done}</Notice>}
      {problem && <Notice role="alert">{problem}</Notice>}
      {/* A new key after each action: the forms are closed and empty again, as after a page load. */}
      <Fragment key={key}>
        <WaysIn
          {...user}
          provider={provider}
          canConnect={canConnect}
          signInAgain={signInAgain}
          passwordErrors={refusalOf(result, "change-password").errors}
        />
        <SessionList sessions={sessions} />
        <AccountDetails
          {...user}
          signInAgain={signInAgain}
          emailError={emailChange.errors.email}
          typedEmail={emailChange.typed.email}
        />
        <DeleteAccount signInAgain={signInAgain} error={deletion.errors.email} typed={deletion.typed.email} />
      </Fragment>
    </Page>
  );
}
