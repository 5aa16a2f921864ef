import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { data, Form, useActionData, useLoaderData } from "@remix-run/react";
import { consentOrigin, providerLabel } from "#server/features/external-sign-in.server";
import { activeSessions, browserName } from "#server/features/sessions.server";
import { accountForm, runAccountAction } from "~/account-actions.server";
import { AccountNotice, DeleteAccount, Person, WaysIn } from "~/components/account";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SessionList } from "~/components/session-list";
import { SubmitButton } from "~/components/submit-button";
import { formTargetHeader } from "~/content-security-policy";
import { readForm } from "~/form.server";
import { respond, unprocessable } from "~/responses";
import { requireUser } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Your account · Latchkey" }];

export const headers: HeadersFunction = ({ loaderHeaders, actionHeaders }) =>
  new Headers([...loaderHeaders, ...actionHeaders]);

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const { user, sessionId } = await requireUser(request, "/login");
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
        provider: provider ?? "external sign-in",
        canConnect: provider !== null && !user.isLinked,
        notice: new URL(request.url).searchParams.get("notice"),
        sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
          id,
          browser: browserName(userAgent ?? null),
          since: createdAt.toISOString(),
          lastSeen: lastSeenAt.toISOString(),
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

export default function Dashboard() {
  const { user, provider, canConnect, notice, sessions } = useLoaderData<typeof loader>();
  const result = useActionData<typeof action>();
  const done = result && "done" in result ? result.done : undefined;
  const errors: Record<string, string> = (result && "errors" in result && result.errors) || {};
  const typed: Record<string, string> = (result && "typed" in result && result.typed) || {};
  const problem = errors.intent ?? errors.sessionId ?? errors.passwordLink ?? errors.provider;
  return (
    <Page title="Your account" wide>
      {!result && <AccountNotice notice={notice} provider={provider} />}
      {done && <Notice role="status">{done}</Notice>}
      {problem && <Notice role="alert">{problem}</Notice>}
      <div className="row">
        <Person {...user} />
        <Form method="post" action="/logout">
          <SubmitButton className="quiet" action="/logout">
            Log out
          </SubmitButton>
        </Form>
      </div>
      <WaysIn {...user} provider={provider} canConnect={canConnect} />
      <SessionList sessions={sessions} />
      <DeleteAccount error={errors.email} typed={typed.email} />
    </Page>
  );
}
