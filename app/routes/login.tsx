import type { ActionFunctionArgs, HeadersFunction, LoaderFunctionArgs } from "@remix-run/node";
import { data, Form, Link, useActionData, useLoaderData } from "@remix-run/react";
import * as z from "zod";
import { providerLabel } from "#server/features/external-sign-in.server";
import { authenticate, countLogin, logIn } from "#server/features/login.server";
import { clientOf, disconnectSignal } from "#server/http/request-facts.server";
import { recentSignInMinutes } from "#server/rules";
import { ExternalSignIn } from "~/components/external-sign-in";
import { EmailField } from "~/components/field";
import { Notice } from "~/components/notice";
import { Page } from "~/components/page";
import { PasswordField } from "~/components/password-field";
import { SubmitButton } from "~/components/submit-button";
import { deviceToken, withDevice } from "~/device.server";
import { readForm, text } from "~/form.server";
import { Text, useTexts } from "~/language";
import { languageOf, textsFor } from "~/language.server";
import { minutesIn, respond, unprocessable } from "~/responses";
import { browserOf, requireGuest, signIn } from "~/session.server";
import { titled } from "~/title";

export const handle = titled("common.logIn");

export const headers: HeadersFunction = ({ actionHeaders }) => actionHeaders;

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    const provider = providerLabel();
    return { idpEnabled: provider !== null, provider, notice: new URL(request.url).searchParams.get("notice") };
  });
}

function tooManyAttempts(typed: Record<string, string>, message: string, wait: number) {
  return data(
    { typed, errors: {}, wrongPassword: false, message },
    { status: 429, headers: { "Retry-After": String(wait) } },
  );
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const form = await readForm(request, z.object({ email: text, password: text }));
    const { typed } = form;
    const t = textsFor(request);
    if (!form.ok) return unprocessable({ typed, errors: form.errors, wrongPassword: false, message: null });

    const { email, password } = form.values;
    const device = deviceToken(request);
    const counted = await countLogin(email, { client: clientOf(request), deviceToken: device });
    if (counted.wait !== null) {
      const message = t("login.tooMany", { count: minutesIn(counted.wait) });
      return tooManyAttempts(typed, message, counted.wait);
    }

    const user = await authenticate(email, password, disconnectSignal(), counted.counters);
    const done = user && (await logIn(user, counted.counters, browserOf(request), device, languageOf(request)));
    if (!done) return unprocessable({ typed, errors: {}, wrongPassword: true, message: t("login.wrong") });
    return withDevice(request, signIn(request, done.session), done.deviceToken);
  });
}

function LoginNotice({ notice, provider }: { notice: string | null; provider: string | null }) {
  const t = useTexts();
  if (notice === "password_reset") {
    return <Notice role="status">{t("login.passwordReset")}</Notice>;
  }
  if (notice === "sign_in_again") {
    return <Notice role="status">{t("login.signInAgain", { count: recentSignInMinutes })}</Notice>;
  }
  if (notice !== "idp_failed") return null;
  return (
    <Notice role="alert">
      {provider ? (
        <Text
          of="login.idpFailedAgain"
          values={{ provider }}
          parts={{ again: (text) => <a href="/auth/idp">{text}</a> }}
        />
      ) : (
        t("login.idpFailed", { provider: t("common.otherService") })
      )}
    </Notice>
  );
}

export default function Login() {
  const t = useTexts();
  const { idpEnabled, provider, notice } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const email = refused?.typed.email;
  const wrongPassword = refused?.wrongPassword && {
    "aria-invalid": true,
    "aria-describedby": "refusal",
    autoFocus: true,
  };
  return (
    <Page title={t("common.logIn")}>
      {!refused && <LoginNotice notice={notice} provider={provider} />}
      {refused?.message && (
        <Notice id="refusal" role="alert">
          {refused.message}
        </Notice>
      )}
      <Form method="post" action="/login">
        <EmailField required defaultValue={email} enterKeyHint="next" error={refused?.errors.email} />
        <PasswordField
          of="Password"
          name="password"
          autoComplete="current-password"
          enterKeyHint="go"
          error={refused?.errors.password}
          {...wrongPassword}
        />
        <SubmitButton>{t("common.logIn")}</SubmitButton>
      </Form>
      <p className="aside">
        <Link to={email ? `/forgot-password?${new URLSearchParams({ email })}` : "/forgot-password"}>
          {t("common.forgotPassword")}
        </Link>
      </p>
      {idpEnabled && <ExternalSignIn provider={provider} />}
      <p className="aside">
        <Text of="login.createAccount" parts={{ register: (text) => <Link to="/register">{text}</Link> }} />
      </p>
    </Page>
  );
}
