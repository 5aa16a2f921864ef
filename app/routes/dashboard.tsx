import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs } from "@remix-run/node";
import { data, Form, useActionData, useLoaderData } from "@remix-run/react";
import { consentOrigin, providerLabel } from "#server/features/external-sign-in.server";
import { momentIn } from "#server/features/language.server";
import { activeSessions, browserName } from "#server/features/sessions.server";
import { accountForm, runAccountAction } from "~/account-actions.server";
import { AccountNotice, DeleteAccount, Person, WaysIn } from "~/components/account";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SessionList } from "~/components/session-list";
import { SubmitButton } from "~/components/submit-button";
import { formTargetHeader } from "~/content-security-policy";
import { readForm } from "~/form.server";
import { useTexts } from "~/language";
import { languageOf } from "~/language.server";
import { respond, unprocessable } from "~/responses";
import { requireUser } from "~/session.server";
import { titled } from "~/title";

export const handle = titled("common.accountTitle");

export const headers: HeadersFunction = ({ loaderHeaders, actionHeaders }) =>
  new Headers([...loaderHeaders, ...actionHeaders]);

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const { user, sessionId } = await requireUser(request);
    const language = languageOf(request);
    const moment = (at: Date) => ({ at: at.toISOString(), moment: momentIn(language, at) });
    const sessions = await activeSessions(user.id);
    const provider = providerLabel();
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
        notice: new URL(request.url).searchParams.get("notice"),
        sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
          id,
          browser: browserName(userAgent ?? null, language),
          since: moment(createdAt),
          lastSeen: moment(lastSeenAt),
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
    const signedIn = await requireUser(request);
    return form.ok
      ? runAccountAction(request, signedIn, form.values)
      : unprocessable({ errors: form.errors, typed: form.typed });
  });
}

export default function Dashboard() {
  const t = useTexts();
  const { user, canConnect, notice, sessions, ...loaded } = useLoaderData<typeof loader>();
  const provider = loaded.provider ?? t("account.externalSignIn");
  const result = useActionData<typeof action>();
  const done = result && "done" in result ? result.done : undefined;
  const errors: Record<string, string> = (result && "errors" in result && result.errors) || {};
  const typed: Record<string, string> = (result && "typed" in result && result.typed) || {};
  const problem = errors.intent ?? errors.sessionId ?? errors.passwordLink ?? errors.provider;
  return (
    <Page title={t("common.accountTitle")} wide>
      {!result && <AccountNotice notice={notice} provider={provider} />}
      {done && <Notice role="status">{done}</Notice>}
      {problem && <Notice role="alert">{problem}</Notice>}
      <div className="row">
        <Person {...user} />
        <Form method="post" action="/logout">
          <SubmitButton className="quiet" action="/logout">
            {t("account.logOut")}
          </SubmitButton>
        </Form>
      </div>
      <WaysIn {...user} provider={provider} canConnect={canConnect} />
      <SessionList sessions={sessions} />
      <DeleteAccount error={errors.email} typed={typed.email} />
    </Page>
  );
}
