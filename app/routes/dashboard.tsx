import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { Form, useActionData, useLoaderData } from "@remix-run/react";
import * as z from "zod";
import { deleteAccount, unlinkProvider } from "#server/features/account.server";
import { providerLabel } from "#server/features/external-sign-in.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { activeSessions, endOtherSessions, endSession } from "#server/features/sessions.server";
import { clientOf } from "#server/http/request-facts.server";
import { browserName } from "~/browser-name.server";
import { DeleteAccount, Person, WaysIn } from "~/components/account";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { SessionList } from "~/components/session-list";
import { SubmitButton } from "~/components/submit-button";
import { readForm } from "~/form.server";
import { respond } from "~/respond.server";
import { unprocessable } from "~/responses";
import { requireRecentSignIn, requireUser, signOut } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Your account · Latchkey" }];

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const { user, sessionId } = await requireUser(request);
    const sessions = await activeSessions(user.id);
    return {
      user: {
        name: user.name,
        email: user.email,
        picture: user.pictureUrl,
        password: user.hasPassword,
        linked: user.isLinked,
      },
      provider: providerLabel() ?? "external sign-in",
      sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
        id,
        browser: browserName(userAgent ?? null),
        since: createdAt.toISOString(),
        lastSeen: lastSeenAt.toISOString(),
        current: id === sessionId,
      })),
    };
  });
}

const actions = () =>
  z.object({
    intent: z.enum(
      ["end-session", "end-other-sessions", "send-password-link", "unlink-provider", "delete-account"],
      "Choose an action.",
    ),
    sessionId: z.uuid("Choose a session.").optional().catch(undefined),
    email: z.string().default(""),
  });

const refused = (errors: Record<string, string>, typed: Record<string, string> = {}) =>
  unprocessable({ errors, typed });

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const form = await readForm(request, actions());
    const signedIn = await requireUser(request);
    const { user, sessionId: ownSessionId } = signedIn;
    if (!form.ok) return refused(form.errors, form.typed);
    const { intent, sessionId, email } = form.values;

    switch (intent) {
      case "end-session":
        if (sessionId === ownSessionId) throw await signOut(request);
        if (!sessionId || !(await endSession(user.id, sessionId))) {
          return refused({ sessionId: "This session has already ended." });
        }
        return { done: "The session was ended." };
      case "end-other-sessions":
        await endOtherSessions(user.id, ownSessionId);
        return { done: "Every other session was ended." };
      case "send-password-link":
        await requestPasswordReset(user.email, clientOf(request));
        return { done: `A link to set the password is on its way to ${user.email}.` };
      case "unlink-provider":
        await requireRecentSignIn(request, signedIn);
        if (!(await unlinkProvider(user.id))) {
          return refused({ provider: "Set a password first: this is the only way into your account." });
        }
        return { done: "The external sign-in was disconnected." };
      case "delete-account":
        await requireRecentSignIn(request, signedIn);
        if (!(await deleteAccount(user, email))) {
          return refused({ email: "Type the email address of this account." }, form.typed);
        }
        return signOut(request, "/account-deleted");
    }
  });
}

export default function Dashboard() {
  const { user, provider, sessions } = useLoaderData<typeof loader>();
  const result = useActionData<typeof action>();
  const done = result && "done" in result ? result.done : undefined;
  const errors: Record<string, string> = (result && "errors" in result && result.errors) || {};
  const problem = errors.intent ?? errors.sessionId ?? errors.provider;
  return (
    <Page title="Your account" wide>
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
      <WaysIn {...user} provider={provider} />
      <SessionList sessions={sessions} />
      <DeleteAccount error={errors.email} />
    </Page>
  );
}
