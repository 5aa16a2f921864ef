import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs, MetaFunction } from "@remix-run/node";
import { data, Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import * as z from "zod";
import { providerLabel } from "#server/features/external-sign-in.server";
import { authenticate, countLogin, logIn } from "#server/features/login.server";
import { clientOf, requesterOf } from "#server/http/request-facts.server";
import { recentSignInMinutes } from "#server/rules";
import { ExternalSignIn } from "~/components/external-sign-in";
import { EmailField } from "~/components/field";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { PasswordField } from "~/components/password-field";
import { SubmitButton } from "~/components/submit-button";
import { deviceToken, withDevice } from "~/device.server";
import { readForm, text } from "~/form.server";
import { minutesFrom, respond, unprocessable } from "~/responses";
import { browserOf, requireGuest, signIn } from "~/session.server";

export const meta: MetaFunction = () => [{ title: "Log in · Latchkey" }];

export const headers: HeadersFunction = ({ actionHeaders }) => actionHeaders;

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    const provider = providerLabel();
    return { idpEnabled: provider !== null, provider, notice: new URL(request.url).searchParams.get("notice") };
  });
}

const wrong = "Email or password is incorrect.";

function tooManyAttempts(typed: Record<string, string>, wait: number) {
  const message = `Too many attempts. Try again in ${minutesFrom(wait)}, or reset your password.`;
  return data({ typed, errors: {}, message }, { status: 429, headers: { "Retry-After": String(wait) } });
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const form = await readForm(request, z.object({ email: text, password: text }));
    const { typed } = form;
    if (!form.ok) return unprocessable({ typed, errors: form.errors, message: null });

    const { email, password } = form.values;
    const device = deviceToken(request);
    const counted = await countLogin(email, { client: clientOf(request), deviceToken: device });
    if (counted.wait !== null) return tooManyAttempts(typed, counted.wait);

    const user = await authenticate(email, password, requesterOf(request), counted.counters);
    const done = user && (await logIn(user, counted.counters, browserOf(request), device));
    if (!done) return unprocessable({ typed, errors: {}, message: wrong });
    return withDevice(request, signIn(request, done.session), done.deviceToken);
  });
}

function LoginNotice({ notice, provider }: { notice: string | null; provider: string | null }) {
  if (notice === "password_reset") {
    return <Notice role="status">Your password was changed. Log in with the new one.</Notice>;
  }
  if (notice === "email_changed") {
    return <Notice role="status">Your email address was changed. Log in with the new one.</Notice>;
  }
  if (notice === "sign_in_again") {
    return (
      <Notice role="status">You logged in more than {recentSignInMinutes} minutes ago. Log in again to go on.</Notice>
    );
  }
  if (notice !== "idp_failed") return null;
  return (
    <Notice role="alert">
      Signing in with {provider ?? "the other service"} did not work.
      {provider && (
        <>
          {" "}
          <a href="/auth/idp">Try again</a>, or log in with your email.
        </>
      )}
    </Notice>
  );
}

export default function Login() {
  const { idpEnabled, provider, notice } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const email = refused?.typed.email;
  const wrongPassword = refused?.message === wrong && {
    "aria-invalid": true,
    "aria-describedby": "refusal",
    autoFocus: true,
  };
  return (
    <Page title="Log in">
      {!refused && <LoginNotice notice={notice} provider={provider} />}
      {refused?.message && (
        <Notice id="refusal" role="alert">
          {refused.message}
        </Notice>
      )}
      <Form method="post" action="/login">
        <EmailField required defaultValue={email} enterKeyHint="next" error={refused?.errors.email} />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          enterKeyHint="go"
          error={refused?.errors.password}
          {...wrongPassword}
        />
        <SubmitButton>Log in</SubmitButton>
      </Form>
      <p className="aside">
        <Link to={email ? `/forgot-password?${new URLSearchParams({ email })}` : "/forgot-password"}>
          Forgot your password?
        </Link>
      </p>
      {idpEnabled && <ExternalSignIn provider={provider} />}
      <p className="aside">
        No account yet? <Link to="/register">Create one</Link>
      </p>
    </Page>
  );
}
